import { Buffer } from 'node:buffer';
import type { EtcdClient } from './client.ts';

const compactRevKey = 'compact_rev_key';

/**
 * Compacts regularly what was overwritten an interval ago. Several servers agree by a key whose version counts the rounds: who raises
 * it compacts, the others wait for the next. kube-apiserver takes part in it as well.
 *
 * A and B with the key at version 7: both know 7; A raises it to 8 and compacts; B's comparison with 7 fails, it learns 8.
 * Upstream: apiserver/pkg/storage/etcd3/compact.go.
 */
export class Compactor {
  #version = 0;
  #revision = 0;

  constructor(private readonly client: EtcdClient) {}

  /** One round. Rejects where etcd cannot be reached; the next goes on from there. */
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
