import { AdmissionPlugin, type Attributes, deepEqual, deny, type Informer, Informers, inject } from 'kubenest/sdk';
import type { Service } from 'kubenest/types/core_v1';

/** Denies services with the same selector as another service of their namespace. */
@AdmissionPlugin({
  name: 'UniqueServiceSelectors',
  match: [{ groups: [''], resources: ['services'], operations: ['CREATE', 'UPDATE'] }],
})
export class UniqueServiceSelectors {
  readonly #services: Informer<Service>;

  constructor(@inject(Informers) informers: Informers) {
    this.#services = informers.for<Service>({ group: '', resource: 'services' });
  }

  validate(request: Attributes<Service>): void {
    const { object, oldObject, namespace } = request;
    const { selector = {} } = object.spec ?? {};
    if (Object.keys(selector).length === 0 || deepEqual(selector, oldObject?.spec?.selector)) return;
    const other = this.#services
      .list(namespace)
      .find(({ metadata, spec }) => metadata.name !== object.metadata.name && deepEqual(spec?.selector, selector));
    if (other) deny(request, `spec.selector: service ${other.metadata.name} has the same selector`);
  }
}
