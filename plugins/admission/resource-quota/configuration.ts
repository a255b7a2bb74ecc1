import { IsArray, IsNotEmpty, IsOptional, IsString, ValidateNested, Type } from 'kubenest/sdk/configuration';
import type { ScopeRequirement } from '../../common/quota/evaluator.ts';

/** A resource that may be used only if a quota covers it. */
export class LimitedResource {
  @IsOptional()
  @IsString()
  apiGroup?: string;

  @IsString()
  @IsNotEmpty()
  resource = '';

  /** Substrings of resource names: `requests.storage`. */
  @IsOptional()
  @IsString({ each: true })
  matchContains?: readonly string[];

  @IsOptional()
  @IsArray()
  matchScopes?: readonly ScopeRequirement[];
}

/**
 * Configuration of ResourceQuota. Upstream: apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota (Configuration).
 */
export class ResourceQuotaConfiguration {
  static readonly kinds = [
    'apiserver.config.k8s.io/v1, ResourceQuotaConfiguration',
    'resourcequota.admission.k8s.io/v1beta1, Configuration',
    'resourcequota.admission.k8s.io/v1alpha1, Configuration',
  ];

  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => LimitedResource)
  limitedResources: readonly LimitedResource[] = [];
}
