import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { Informers } from '#apiserver/registry/informers';
import type { StoreHooks } from '#apiserver/registry/write';
import type { RestMapper } from '#apiserver/server/rest-mapper';
import { paramAuthorization } from '#kubernetes/apis/admissionregistration/param-authorization';
import { podCertificateSigning } from '#kubernetes/apis/certificates/pod-certificate-signing';
import { EscalationCheck } from '#kubernetes/apis/rbac/escalation';
import { claimAuthorization } from '#kubernetes/apis/resource/claim-authorization';
import { RBAC } from '#plugins/authorization/rbac/rbac';

/**
 * Write checks that require more permissions than the verb on the resource. The hooks are part of the stores, but their informers read from
 * the stores; they are therefore connected before the first write.
 */
export class AuthorizedWrites {
  /** Hooks by `group/resource`. */
  readonly hooks: ReadonlyMap<string, StoreHooks>;
  readonly #escalation = new EscalationCheck();
  readonly #authorizer: Authorizer;
  #informers: Informers | undefined;

  constructor(authorizer: Authorizer, mapper: RestMapper) {
    this.#authorizer = authorizer;
    const informers: Informers = { for: (resource) => this.#connected.for(resource) };
    const parts = { authorizer, mapper, informers };
    this.hooks = new Map([
      ...this.#escalation.hooks,
      ...paramAuthorization(parts),
      ...claimAuthorization(parts),
      ['certificates.k8s.io/podcertificaterequests', podCertificateSigning(authorizer)],
    ]);
  }

  connect(informers: Informers): void {
    this.#informers = informers;
    this.#escalation.connect({ informers, authorizer: this.#authorizer, rules: new RBAC(informers) });
  }

  get #connected(): Informers {
    if (!this.#informers) throw new Error('the write checks have no informers yet');
    return this.#informers;
  }
}
