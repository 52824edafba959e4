/** The connection of a client to a daemon, independent of the protocol below it. */
export interface WireRequest {
  method: string;
  /** Path with its query string. */
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

/** Bytes in both directions, until one side closes the channel. */
export interface WireChannel {
  chunks: AsyncIterable<Uint8Array>;
  write(bytes: Uint8Array): void;
  close(): void;
}

export interface Transport {
  /** Sends a request and reads the complete reply. */
  request(request: WireRequest): Promise<WireReply>;
  /** Sends a request whose reply is read as it arrives; it ends when the daemon closes it. */
  stream(request: WireRequest): Promise<WireStream>;
  /** Switches a connection from HTTP to raw bytes, or returns the reply that refuses it. Not every transport supports it. */
  upgrade?(request: WireRequest): Promise<WireChannel | WireReply>;
  close(): void;
}
