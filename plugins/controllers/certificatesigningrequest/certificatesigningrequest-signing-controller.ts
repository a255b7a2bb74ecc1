import { Buffer } from 'node:buffer';
import {
  Clock,
  Controller,
  ControllerClient,
  formatTime,
  inject,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { CertificateSigningRequest } from 'kubenest/types/certificates_v1';
import { type CertificateRequest, ClusterCredentials, parsePemCertificateRequest } from '#sdk/internal';
import { asManager } from '../common/as-manager.ts';
import {
  clientSigner,
  clientUsageProblem,
  hasCondition,
  kubeletClientProblem,
  kubeletClientSigner,
  kubeletServingProblem,
  kubeletServingSigner,
  legacySigner,
  signingRequests,
} from './requests.ts';

const minuteMs = 60_000;
const backdateMs = 5 * minuteMs;
/** Certificates of a shorter lifetime are not backdated at their end. */
const shortMs = 8 * 60 * minuteMs;
/** Upstream: --cluster-signing-duration. */
const maxLifetimeMs = 365 * 24 * 60 * minuteMs;
const minLifetimeMs = 10 * minuteMs;

type Verify = (request: CertificateRequest, usages: readonly string[]) => string | undefined;

/** Checks of the signers: each returns the problem of a request. */
const signers: Readonly<Record<string, Verify>> = {
  [kubeletServingSigner]: kubeletServingProblem,
  [kubeletClientSigner]: kubeletClientProblem,
  [clientSigner]: (_, usages) => clientUsageProblem(usages),
  [legacySigner]: () => undefined,
};

/** Returns the validity of a certificate. Upstream: signer.duration and PermissiveSigningPolicy. */
export function validity(expirationSeconds: number | undefined, nowMs: number): { notBefore: Date; notAfter: Date } {
  const wanted = expirationSeconds === undefined ? maxLifetimeMs : expirationSeconds * 1_000;
  const lifetimeMs = Math.max(minLifetimeMs, Math.min(wanted, maxLifetimeMs));
  const endMs = nowMs + lifetimeMs - (lifetimeMs < shortMs ? 0 : backdateMs);
  return { notBefore: new Date(nowMs - backdateMs), notAfter: new Date(endMs) };
}

/** Signs approved requests with the server's own authority, if it has one. Upstream: pkg/controller/certificates/signer. */
@Controller({
  name: 'certificatesigningrequest-signing-controller',
  serviceAccount: 'certificate-controller',
  for: signingRequests,
  minBackoffMs: 200,
  ...asManager,
})
export class CertificateSigningRequestSigningController {
  readonly #requests: SharedInformer<CertificateSigningRequest>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(ClusterCredentials) private readonly credentials: ClusterCredentials,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#requests = informers.for<CertificateSigningRequest>(signingRequests);
  }

  async reconcile({ name }: ReconcileRequest): Promise<void> {
    const { signCertificateRequest } = this.credentials;
    const request = this.#requests.get('', name);
    const verify = signers[request?.spec?.signerName ?? ''];
    if (!signCertificateRequest || !verify || !request || !isWaiting(request)) return;
    const { request: pem = '', usages = [], expirationSeconds } = request.spec ?? {};
    const problem = verify(parsePemCertificateRequest(pem), usages);
    if (problem !== undefined) return this.#fail(request, problem);
    const signed = await signCertificateRequest({ request: pem, usages, ...validity(expirationSeconds, this.clock.wallTime()) });
    const certificate = Buffer.from(signed).toString('base64');
    await this.#writeStatus(request, { ...request.status, certificate });
  }

  async #fail(request: CertificateSigningRequest, message: string): Promise<void> {
    const lastUpdateTime = formatTime(this.clock.wallTime());
    const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message, lastUpdateTime };
    await this.#writeStatus(request, { ...request.status, conditions: [...(request.status?.conditions ?? []), failed] });
  }

  async #writeStatus(request: CertificateSigningRequest, status: CertificateSigningRequest['status']): Promise<void> {
    await this.client.replace({ ...signingRequests, subresource: 'status' }, { ...request, status } as CertificateSigningRequest);
  }
}

/** True if the request is approved and has neither a certificate nor failed. */
function isWaiting(request: CertificateSigningRequest): boolean {
  const isDecided = request.status?.certificate || hasCondition(request, 'Failed') || hasCondition(request, 'Denied');
  return !isDecided && hasCondition(request, 'Approved');
}
