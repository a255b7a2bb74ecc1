import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { Informers } from '#apiserver/registry/informers';
import type { StoreHooks } from '#apiserver/registry/store';
import type { RestMapper } from '#apiserver/server/rest-mapper';
import { paramAuthorization } from '#kubernetes/apis/admissionregistration/param-authorization';
import { podCertificateSigning } from '#kubernetes/apis/certificates/pod-certificate-signing';
import { EscalationCheck } from '#kubernetes/apis/rbac/escalation';
import { claimAuthorization } from '#kubernetes/apis/resource/claim-authorization';
import { RBAC } from '#plugins/authorization/rbac/rbac';

/**
 * Writes that need more authority than the verb on their resource. The hooks are a part of the stores, the informers that they ask read from
 * the stores: so they are connected before anything is written.
 */
export class AuthorizedWrites {
  /** By `group/resource`. */
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
    if (!this.#informers) throw new Error('the checks of writes have no informers yet');
    return this.#informers;
  }
}
