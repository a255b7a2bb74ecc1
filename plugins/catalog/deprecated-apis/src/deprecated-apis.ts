import { AdmissionPlugin, type Attributes, Configuration, deny, inject } from 'kubenest/sdk';
import { ArrayNotEmpty, IsArray, IsNotEmpty, IsString, Type, ValidateNested } from 'kubenest/sdk/configuration';
import { IsOptionalText } from '../../common/configuration.ts';

export class DeprecatedApi {
  /** Group; empty for the core group. */
  @IsString()
  group = '';
  /** Version, or `*` for all of them. */
  @IsString()
  @IsNotEmpty()
  version = '*';
  /** Resource, or `*` for all of the group and version. */
  @IsString()
  @IsNotEmpty()
  resource = '*';
  /** API to use instead, for the message: `discovery.k8s.io/v1 endpointslices`. */
  @IsOptionalText()
  replacement?: string;
}

const api = (group: string, version: string, resource: string, replacement: string): DeprecatedApi =>
  Object.assign(new DeprecatedApi(), { group, version, resource, replacement });

export class DeprecatedApisConfiguration {
  /** APIs that may not be written. Default: the beta APIs of Kubernetes that a stable version has replaced. */
  @IsArray()
  @ArrayNotEmpty()
  @ValidateNested({ each: true })
  @Type(() => DeprecatedApi)
  apis: DeprecatedApi[] = [
    api('networking.k8s.io', 'v1beta1', '*', 'networking.k8s.io/v1'),
    api('resource.k8s.io', 'v1beta1', '*', 'resource.k8s.io/v1'),
    api('resource.k8s.io', 'v1beta2', '*', 'resource.k8s.io/v1'),
    api('admissionregistration.k8s.io', 'v1beta1', 'validatingadmissionpolicies', 'admissionregistration.k8s.io/v1'),
    api('admissionregistration.k8s.io', 'v1beta1', 'validatingadmissionpolicybindings', 'admissionregistration.k8s.io/v1'),
  ];
}

/** Denies objects that are written by a deprecated API version or resource, so that clients change before it is removed. */
@AdmissionPlugin({
  name: 'DeprecatedApis',
  configuration: DeprecatedApisConfiguration,
  match: [{ resources: ['*'], operations: ['CREATE', 'UPDATE'] }],
})
export class DeprecatedApis {
  constructor(@inject(Configuration) private readonly configuration: DeprecatedApisConfiguration) {}

  validate(request: Attributes): void {
    // The version by which the client wrote; the object itself is in the storage version.
    const { group, version, resource } = request.resource;
    const found = this.configuration.apis.find((one) => one.group === group && fits(one.version, version) && fits(one.resource, resource));
    if (!found) return;
    const { replacement } = found;
    const written = `${group === '' ? '' : `${group}/`}${version} ${resource}`;
    deny(request, `${written} is deprecated${replacement === undefined ? '' : `, use ${replacement}`}`);
  }
}

const fits = (pattern: string, text: string): boolean => pattern === '*' || pattern === text;
