import {
  AdmissionPlugin,
  type Attributes,
  Authorizer,
  Informers,
  inject,
  Metrics,
  ServedKinds,
  ShutdownSignal,
  ValidatingPolicies,
} from 'kubenest/sdk';

/** Denies what policies deny that are objects of the cluster. Upstream: plugin/policy/validating/plugin.go. */
@AdmissionPlugin({
  name: 'ValidatingAdmissionPolicy',
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] }],
})
export class ValidatingAdmissionPolicy {
  readonly #policies: ValidatingPolicies;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(ServedKinds) kinds: ServedKinds,
    @inject(Authorizer) authorizer: Authorizer,
    @inject(ShutdownSignal) shutdown: ShutdownSignal,
    @inject(Metrics) metrics: Metrics,
  ) {
    this.#policies = new ValidatingPolicies({ informers, kinds, authorizer, shutdown, metrics });
  }

  validate(request: Attributes): void | Promise<void> {
    return this.#policies.validate(request);
  }
}
