import {
  AdmissionPlugin,
  type Attributes,
  Authorizer,
  Informers,
  inject,
  MutatingPolicies,
  ServedKinds,
  ShutdownSignal,
} from 'kubenest/sdk';

/** Changes objects as policies say that are objects of the cluster. Upstream: plugin/policy/mutating/plugin.go. */
@AdmissionPlugin({
  name: 'MutatingAdmissionPolicy',
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'CONNECT'] }],
})
export class MutatingAdmissionPolicy {
  readonly #policies: MutatingPolicies;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(ServedKinds) kinds: ServedKinds,
    @inject(Authorizer) authorizer: Authorizer,
    @inject(ShutdownSignal) shutdown: ShutdownSignal,
  ) {
    this.#policies = new MutatingPolicies({ informers, kinds, authorizer, shutdown });
  }

  admit(request: Attributes): void | Promise<void> {
    return this.#policies.admit(request);
  }
}
