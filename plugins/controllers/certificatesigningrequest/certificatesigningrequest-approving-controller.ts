import { Controller, ControllerClient, inject, type ReconcileRequest, type SharedInformer, SharedInformers } from 'kubenest/sdk';
import type { SubjectAccessReview } from 'kubenest/types/authorization_v1';
import type { CertificateSigningRequest } from 'kubenest/types/certificates_v1';
import { parsePemCertificateRequest } from '#sdk/internal';
import { asManager } from '../common/as-manager.ts';
import { hasCondition, kubeletClientProblem, kubeletClientSigner, signingRequests } from './requests.ts';

const reviews = { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' } as const;

/** Permission that a requester needs for the approval, and the message of the condition. */
const permissions = [
  { subresource: 'selfnodeclient', message: 'Auto approving self kubelet client certificate after SubjectAccessReview.' },
  { subresource: 'nodeclient', message: 'Auto approving kubelet client certificate after SubjectAccessReview.' },
] as const;

/** Approves client certificates of kubelets whose requesters may have them. Upstream: pkg/controller/certificates/approver. */
@Controller({
  name: 'certificatesigningrequest-approving-controller',
  serviceAccount: 'certificate-controller',
  for: signingRequests,
  minBackoffMs: 200,
  ...asManager,
})
export class CertificateSigningRequestApprovingController {
  readonly #requests: SharedInformer<CertificateSigningRequest>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#requests = informers.for<CertificateSigningRequest>(signingRequests);
  }

  async reconcile({ name }: ReconcileRequest): Promise<void> {
    const request = this.#requests.get('', name);
    if (!request || request.status?.certificate || hasCondition(request, 'Approved') || hasCondition(request, 'Denied')) return;
    const { spec = {} } = request;
    if (spec.signerName !== kubeletClientSigner) return;
    const parsed = parsePemCertificateRequest(spec.request ?? '');
    if (kubeletClientProblem(parsed, spec.usages ?? []) !== undefined) return;
    const isOwn = spec.username === parsed.subject.commonName;
    for (const { subresource, message } of permissions) {
      if (subresource === 'selfnodeclient' && !isOwn) continue;
      if (await this.#isAllowed(request, subresource)) return this.#approve(request, message);
    }
  }

  async #isAllowed({ spec = {} }: CertificateSigningRequest, subresource: string): Promise<boolean> {
    const resourceAttributes = {
      group: 'certificates.k8s.io',
      resource: 'certificatesigningrequests',
      verb: 'create',
      version: '*',
      subresource,
    };
    const { username: user, uid, groups, extra } = spec;
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: { user, resourceAttributes, ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) },
    };
    const review = await this.client.create(reviews, body as SubjectAccessReview);
    return review.status?.allowed === true;
  }

  async #approve(request: CertificateSigningRequest, message: string): Promise<void> {
    const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
    const status = { ...request.status, conditions: [...(request.status?.conditions ?? []), approved] };
    await this.client.replace({ ...signingRequests, subresource: 'approval' }, { ...request, status });
  }
}
