import { Flag } from './flag.ts';

/** Location of the server's own data. Upstream has no such flags. */
export class DataOptions {
  /** Folder of the embedded store and of the certificates and keys that the server creates for itself. */
  @Flag('data-dir')
  dataDir = './.kubenest';

  /** True if all data is kept in memory and lost when the process ends. */
  @Flag('ephemeral')
  ephemeral = false;
}
