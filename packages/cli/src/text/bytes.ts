export function formatBytes(bytes: number): string {
  if (bytes > 0 && bytes < 1024) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  if (bytes < 1 << 20) return `${Math.round(bytes / 1024)} KB`;
  return bytes < 1 << 30 ? `${(bytes / (1 << 20)).toFixed(0)} MB` : `${(bytes / (1 << 30)).toFixed(1)} GB`;
}
