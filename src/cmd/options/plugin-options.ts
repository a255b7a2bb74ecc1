import { ArrayUnique, IsArray, IsIn, IsInt, IsNotEmpty, IsObject, IsOptional, IsString, Matches, Min } from 'class-validator';
import type { PluginRequest } from '#apiserver/plugins/plugin-request';
import type { PluginPolicy } from '#apiserver/plugins/policy/plugin-policy';
import { parseFlagValue } from './flag-value.ts';

/** A package of plugins, as listed under `plugins` of a ServerConfiguration. */
export class PluginPackageOptions {
  @IsString()
  @IsNotEmpty()
  package = '';

  @IsOptional()
  @Matches(/^sha512-[A-Za-z0-9+/]{86}==$/, { message: 'must be of the form sha512-…, as `kubenest plugin integrity` prints it' })
  integrity?: string;

  @IsOptional()
  @IsArray()
  @ArrayUnique()
  @IsString({ each: true })
  contributions?: string[];

  @IsOptional()
  @IsObject()
  configuration?: Record<string, unknown>;

  /** Policies of admission plugins by contribution name, as in the file. */
  @IsOptional()
  @IsObject()
  policies?: Record<string, unknown>;

  @Matches(/^([0-9]+(ms|s|m))+$/, { message: 'must be a duration such as 5s' })
  timeout = '10s';

  @Matches(/^([0-9]+(ms|s|m))+$/, { message: 'must be a duration such as 60s' })
  startTimeout = '60s';

  @IsIn(['Fail', 'Ignore'])
  failurePolicy: 'Fail' | 'Ignore' = 'Fail';

  @IsOptional()
  @IsIn(['worker'])
  isolation?: 'worker';

  @IsOptional()
  @IsInt()
  @Min(64)
  memoryMiB?: number;

  /** Returns the package to load, with the compiled policies. */
  request(policies?: ReadonlyMap<string, PluginPolicy>): PluginRequest {
    const timeoutMs = parseFlagValue('duration', [this.timeout]) as number;
    const startTimeoutMs = parseFlagValue('duration', [this.startTimeout]) as number;
    return {
      package: this.package,
      integrity: this.integrity,
      contributions: this.contributions,
      configuration: this.configuration,
      policies,
      isolation: this.isolation,
      memoryMiB: this.memoryMiB,
      guard: { timeoutMs, startTimeoutMs, failurePolicy: this.failurePolicy },
    };
  }
}

/** Packages of plugins; only the configuration file can set them. */
export class PluginOptions {
  packages: readonly PluginPackageOptions[] = [];
  /** Compiled policies of each package by contribution name, in the order of `packages`. */
  policies: readonly ReadonlyMap<string, PluginPolicy>[] = [];
  /** Absolute path of the folder of the configuration file, from which packages are resolved. */
  folder = '';
  /** Path of the configuration file; empty without one. */
  file = '';
  /** Absolute paths of the files to which values of the configuration file refer. */
  referencedFiles: readonly string[] = [];

  /** Returns the packages to load. */
  requests(): PluginRequest[] {
    return this.packages.map((entry, i) => entry.request(this.policies[i]));
  }
}
