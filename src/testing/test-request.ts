import type { Buffer } from 'node:buffer';

/** A request to a test cluster. */
export interface TestRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes or text as they are; an object is sent as JSON. */
  readonly body?: string | Buffer | object;
  /** The user of the request; null: anonymous. */
  readonly as?: string | null;
  readonly signal?: AbortSignal;
}
