import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';

/** Key length of NaCl's secretbox. */
const keyBytes = 32;

/** Adds `kubenest encryption …`, which creates keys for encryption at rest. */
export function addEncryptionCommands(program: Command): void {
  const encryption = program.command('encryption').description('create keys for encryption at rest');
  encryption
    .command('new')
    .description('write an EncryptionConfiguration with a new key, for --encryption-provider-config; an existing file is not replaced')
    .argument('<file>', 'file to write, readable only by its owner')
    .action(async (file: string) => {
      try {
        await writeEncryptionConfiguration(file);
        console.log(`${file} has a new key: keep a copy of it outside the store, because encrypted data cannot be read without it`);
      } catch (error) {
        encryption.error(`kubenest encryption new: ${problemOf(error as NodeJS.ErrnoException, file)}`);
      }
    });
}

/**
 * Writes a file of kind EncryptionConfiguration with a new secretbox key; Secrets that were stored unencrypted remain readable. Rejects
 * with EEXIST if the file exists: its key may be the only one that can decrypt the store.
 */
export async function writeEncryptionConfiguration(file: string): Promise<void> {
  const secret = randomBytes(keyBytes).toString('base64');
  const text = `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [secrets]
    providers:
      - secretbox:
          keys:
            - name: key1
              secret: ${secret}
      - identity: {}
`;
  await writeFile(file, text, { flag: 'wx', mode: 0o600, flush: true });
}

function problemOf({ code, message }: NodeJS.ErrnoException, file: string): string {
  return code === 'EEXIST' ? `${file} exists: its key may be the only one that reads the store, so it is not replaced` : message;
}
