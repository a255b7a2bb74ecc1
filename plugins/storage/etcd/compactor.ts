import { Buffer } from 'node:buffer';
import type { EtcdClient } from './client.ts';

const compactRevKey = 'compact_rev_key';

/**
 * Periodically compacts versions that were overwritten an interval ago. Several servers coordinate by a key whose version counts the
 * rounds: the server that increments it compacts, the others wait for the next round. kube-apiserver takes part, too.
 *
 * A and B read version 7; A increments it to 8 and compacts; B's comparison with 7 fails, and B learns 8. Upstream:
 * apiserver/pkg/storage/etcd3/compact.go.
 */
export class Compactor {
  #version = 0;
  #revision = 0;

  constructor(private readonly client: EtcdClient) {}

  /** Runs a round. Rejects if etcd is unreachable; the next round continues from there. */
  async round(): Promise<void> {
    const answer = await this.client.txn({
      compare: [{ result: 0, target: 0, key: compactRevKey, version: this.#version, modRevision: undefined }],
      success: [
        {
          put: { key: compactRevKey, value: Buffer.from(String(this.#revision)) },
          range: undefined,
          deleteRange: undefined,
        },
      ],
      failure: [{ range: { key: compactRevKey }, put: undefined, deleteRange: undefined }],
    });
    const due = this.#revision;
    this.#revision = answer.header?.revision ?? 0;
    if (!answer.succeeded) {
      this.#version = answer.responses[0]?.range?.kvs?.[0]?.version ?? 0;
      return;
    }
    this.#version += 1;
    if (due > 0) await this.client.compact(due);
  }
}
