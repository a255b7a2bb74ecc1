import { Flag } from './flag.ts';

/** Where the server keeps what is its own. These flags are ours. */
export class DataOptions {
  /** Holds the embedded store, and the certificates and keys that the server makes for itself. */
  @Flag('data-dir')
  dataDir = './.kubenest';

  /** All in memory: the objects are gone with the process. */
  @Flag('ephemeral')
  ephemeral = false;
}
