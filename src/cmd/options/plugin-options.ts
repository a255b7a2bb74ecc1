import { ArrayUnique, IsArray, IsIn, IsNotEmpty, IsObject, IsOptional, IsString, Matches } from 'class-validator';
import type { PluginRequest } from '#apiserver/plugins/load-plugins';
import { parseFlagValue } from './flag-value.ts';

/** A package of plugins, as `plugins` of a ServerConfiguration lists it. */
export class PluginPackageOptions {
  @IsString()
  @IsNotEmpty()
  package = '';

  @IsOptional()
  @Matches(/^sha512-[A-Za-z0-9+/]{86}==$/, { message: 'must be like sha512-…, as `kubenest plugin integrity` prints it' })
  integrity?: string;

  @IsOptional()
  @IsArray()
  @ArrayUnique()
  @IsString({ each: true })
  contributions?: string[];

  @IsOptional()
  @IsObject()
  configuration?: Record<string, unknown>;

  @Matches(/^([0-9]+(ms|s|m))+$/, { message: 'must be a duration such as 5s' })
  timeout = '10s';

  @IsIn(['Fail', 'Ignore'])
  failurePolicy: 'Fail' | 'Ignore' = 'Fail';

  request(): PluginRequest {
    const timeoutMs = parseFlagValue('duration', [this.timeout]) as number;
    return {
      package: this.package,
      integrity: this.integrity,
      contributions: this.contributions,
      configuration: this.configuration,
      guard: { timeoutMs, failurePolicy: this.failurePolicy },
    };
  }
}

/** The packages of plugins: of the configuration file alone. */
export class PluginOptions {
  packages: readonly PluginPackageOptions[] = [];
  /** Where they are looked for: the folder of the configuration file, absolute. */
  folder = '';
}
