import { checkManifestFolder, type FeatureGates, type ManifestFiles, readManifestFiles } from 'kubenest/sdk';
import { IsOptional, IsString } from 'kubenest/sdk/configuration';

/** What the configurations of webhooks and policies have in common: a folder whose objects are in force without the API. */
export class ManifestsConfiguration {
  /** The path of the folder; empty: there is none. */
  @IsOptional()
  @IsString()
  staticManifestsDir = '';

  #files: ManifestFiles | undefined;

  /** What the folder had at the start; undefined where there is none. */
  get files(): ManifestFiles | undefined {
    return this.#files;
  }

  /** Reads the folder. Rejects with what is wrong with it. */
  async load(features: FeatureGates): Promise<void> {
    if (this.staticManifestsDir === '') return;
    await checkManifestFolder(this.staticManifestsDir, features);
    this.#files = await readManifestFiles(this.staticManifestsDir);
  }
}
