/** How a client reaches a daemon: requests and streams, whatever carries them. */
export interface WireRequest {
  method: string;
  /** Path with its query. */
  path: string;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface WireReply {
  status: number;
  body: string;
}

export interface WireStream {
  status: number;
  chunks: AsyncIterable<Uint8Array>;
}

export interface Transport {
  /** One request, one whole reply. */
  request(request: WireRequest): Promise<WireReply>;
  /** A reply that is read as it comes; ends when the daemon closes it. */
  stream(request: WireRequest): Promise<WireStream>;
  close(): void;
}
