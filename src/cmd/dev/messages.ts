import type { AddressInfo } from 'node:net';

/** An address on which a server listens. */
export interface ServedAddress {
  readonly host: string;
  readonly port: number;
}

/** Messages from a server under development to its parent process. */
export type DevMessage =
  /** The configuration and the packages make a server, which will listen on this address. */
  | { readonly tried: ServedAddress }
  /** The server wants the connections. */
  | { readonly accepts: true }
  | { readonly started: string }
  /** The server begins to end. */
  | { readonly ending: true };

/** Messages to a server under development: try the current files, begin, serve connections (whose sockets come with the message), end. */
export type DevCommand =
  | { readonly command: 'try' | 'serve' | 'end' }
  | {
      readonly command: 'begin';
      readonly inspect?: number | undefined;
      /** Address on which the parent process listens. */
      readonly address: AddressInfo;
      /** Names of the packages under development, whose plugins' traces are printed; or all traces. */
      readonly traced: 'all' | readonly string[];
    };
