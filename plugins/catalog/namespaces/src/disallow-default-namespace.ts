import { AdmissionPlugin, type Attributes, Configuration, deny, inject, workloads } from 'kubenest/sdk';
import { IsSomeTexts } from '../../common/configuration.ts';

export class DisallowDefaultNamespaceConfiguration {
  @IsSomeTexts()
  namespaces: string[] = ['default'];
}

/** Denies new workloads in the namespace `default`, or in other namespaces that are not for them. */
@AdmissionPlugin({
  name: 'DisallowDefaultNamespace',
  configuration: DisallowDefaultNamespaceConfiguration,
  match: workloads.map(({ groups = [], resources }) => ({ groups, resources, operations: ['CREATE'] as const })),
})
export class DisallowDefaultNamespace {
  constructor(@inject(Configuration) private readonly configuration: DisallowDefaultNamespaceConfiguration) {}

  validate(request: Attributes): void {
    if (this.configuration.namespaces.includes(request.namespace)) deny(request, `namespace ${request.namespace} is not for workloads`);
  }
}
