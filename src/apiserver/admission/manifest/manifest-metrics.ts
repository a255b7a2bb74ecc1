import { createHash } from 'node:crypto';
import { Counter, Gauge, type Registry } from 'prom-client';

const prefix = 'apiserver_manifest_admission_config_controller_';
const labelNames = ['status', 'plugin', 'apiserver_id_hash'];

/** Metrics of loading manifests. Upstream: apiserver/pkg/admission/plugin/manifest/metrics. */
export class ManifestMetrics {
  readonly #reloads: Counter;
  readonly #lastReload: Gauge;
  /** Hash of the active configuration by plugin. */
  readonly #hashes = new Map<string, string>();
  readonly #server: string;

  constructor(registry: Registry, apiServerId: string) {
    const server = `sha256:${createHash('sha256').update(apiServerId).digest('hex')}`;
    const hashes = this.#hashes;
    this.#server = server;
    const registers = [registry];
    this.#reloads = new Counter({
      name: `${prefix}automatic_reloads_total`,
      help: '[ALPHA] Total number of automatic reloads of admission manifest configuration split by status, plugin, and apiserver identity.',
      labelNames,
      registers,
    });
    this.#lastReload = new Gauge({
      name: `${prefix}automatic_reload_last_timestamp_seconds`,
      help: '[ALPHA] Timestamp of the last automatic reload of admission manifest configuration split by status, plugin, and apiserver identity.',
      labelNames,
      registers,
    });
    new Gauge({
      name: `${prefix}last_config_info`,
      help: '[ALPHA] Information about the last applied admission manifest configuration with hash as label, split by plugin and apiserver identity.',
      labelNames: ['plugin', 'apiserver_id_hash', 'hash'],
      registers,
      collect() {
        this.reset();
        for (const [plugin, hash] of hashes) this.set({ plugin, apiserver_id_hash: server, hash }, 1);
      },
    });
  }

  succeeded(plugin: string, hash: string): void {
    this.#observe('success', plugin);
    this.#hashes.set(plugin, hash);
  }

  failed(plugin: string): void {
    this.#observe('failure', plugin);
  }

  #observe(status: 'success' | 'failure', plugin: string): void {
    const labels = { status, plugin, apiserver_id_hash: this.#server };
    this.#reloads.inc(labels);
    this.#lastReload.setToCurrentTime(labels);
  }
}
