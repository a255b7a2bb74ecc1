import { AdmissionPlugin, type Attributes, Configuration, deny, inject } from 'kubenest/sdk';
import { ArrayNotEmpty, IsArray, IsIn } from 'kubenest/sdk/configuration';
import type { Service } from 'kubenest/types/core_v1';
import { quoted } from '../../common/patterns.ts';

export class AllowedServiceTypesConfiguration {
  @IsArray()
  @ArrayNotEmpty()
  @IsIn(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'], { each: true })
  types: string[] = ['ClusterIP'];
}

/** Denies services of other types. A service that has its type already may keep it. */
@AdmissionPlugin({
  name: 'AllowedServiceTypes',
  configuration: AllowedServiceTypesConfiguration,
  match: [{ groups: [''], resources: ['services'], operations: ['CREATE', 'UPDATE'] }],
})
export class AllowedServiceTypes {
  constructor(@inject(Configuration) private readonly configuration: AllowedServiceTypesConfiguration) {}

  validate(request: Attributes<Service>): void {
    const { type = 'ClusterIP' } = request.object.spec ?? {};
    const { types } = this.configuration;
    if (!types.includes(type) && request.oldObject?.spec?.type !== type)
      deny(request, `spec.type: ${type} is not allowed, expected ${quoted(types)}`);
  }
}
