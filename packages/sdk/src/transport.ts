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

/** Bytes both ways, until one side closes it. */
export interface WireChannel {
  chunks: AsyncIterable<Uint8Array>;
  write(bytes: Uint8Array): void;
  close(): void;
}

export interface Transport {
  /** One request, one whole reply. */
  request(request: WireRequest): Promise<WireReply>;
  /** A reply that is read as it comes; ends when the daemon closes it. */
  stream(request: WireRequest): Promise<WireStream>;
  /** A connection that is no HTTP any more; or the reply that refuses it. Not every transport can. */
  upgrade?(request: WireRequest): Promise<WireChannel | WireReply>;
  close(): void;
}
