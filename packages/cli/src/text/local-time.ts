export function localTime(time: string): string {
  return new Date(time).toLocaleString("sv-SE");
}
