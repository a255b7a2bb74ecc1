import { Type } from 'class-transformer';
import { IsArray, IsNotEmpty, IsOptional, IsString, ValidateNested } from 'class-validator';
import type { ScopeRequirement } from './evaluator.ts';

/** What may only be used where a quota covers it. */
export class LimitedResource {
  @IsOptional()
  @IsString()
  apiGroup?: string;

  @IsString()
  @IsNotEmpty()
  resource = '';

  /** Parts of resource names: `requests.storage`. */
  @IsOptional()
  @IsString({ each: true })
  matchContains?: readonly string[];

  @IsOptional()
  @IsArray()
  matchScopes?: readonly ScopeRequirement[];
}

/** Upstream: apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota (Configuration). */
export class ResourceQuotaConfiguration {
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => LimitedResource)
  limitedResources: readonly LimitedResource[] = [];
}
