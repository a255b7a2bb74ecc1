import type { FeatureGates } from 'kubenest/sdk';
import { checkManifestFolder, type ManifestFiles, readManifestFiles } from '#sdk/internal';
import { IsOptional, IsString } from 'kubenest/sdk/configuration';

/** The common configuration of webhooks and policies: a folder of manifests that are active without being API objects. */
export class ManifestsConfiguration {
  /** Path of the manifest folder; empty: none. */
  @IsOptional()
  @IsString()
  staticManifestsDir = '';

  #files: ManifestFiles | undefined;

  /** Manifests loaded at start; undefined without a folder. */
  get files(): ManifestFiles | undefined {
    return this.#files;
  }

  /** Reads the folder. Rejects if a manifest is invalid. */
  async load(features: FeatureGates): Promise<void> {
    if (this.staticManifestsDir === '') return;
    await checkManifestFolder(this.staticManifestsDir, features);
    this.#files = await readManifestFiles(this.staticManifestsDir);
  }
}
