import { X509Certificate } from 'node:crypto';
import { Buffer } from 'node:buffer';
import { Clock, Controller, ControllerClient, inject, Logger, parseTime, type SharedInformer, SharedInformers } from 'kubenest/sdk';
import type { CertificateSigningRequest } from 'kubenest/types/certificates_v1';
import { asManager } from '../common/as-manager.ts';
import { repeat } from '../common/repeat.ts';
import { hasCondition, signingRequests } from './requests.ts';

const hourMs = 3_600_000;
const periodMs = hourMs;
/** Time for which an issued, denied or failed request is kept. */
const decidedMs = hourMs;
/** Time for which a request without a decision or a certificate is kept. */
const pendingMs = 24 * hourMs;

/** True if a request is to be deleted. Upstream: pkg/controller/certificates/cleaner. */
export function isDue(request: CertificateSigningRequest, nowMs: number): boolean {
  const { metadata, status = {} } = request;
  const { conditions = [], certificate } = status;
  const isOld = (time: string | undefined, ms: number): boolean => time !== undefined && nowMs - parseTime(time) > ms;
  const isOldCondition = (wanted: string, ms: number): boolean =>
    conditions.some(({ type, lastUpdateTime }) => type === wanted && isOld(lastUpdateTime, ms));
  if (conditions.length === 0) return isOld(metadata.creationTimestamp, pendingMs);
  if (isOldCondition('Denied', decidedMs) || isOldCondition('Failed', decidedMs)) return true;
  if (!certificate) return isOldCondition('Approved', pendingMs);
  return isOldCondition('Approved', decidedMs) || (hasCondition(request, 'Approved') && isExpired(certificate, nowMs));
}

/** True if the first certificate of a PEM bundle, in base64, has expired. */
function isExpired(base64: string, nowMs: number): boolean {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).validToDate.getTime() < nowMs;
  } catch {
    return false;
  }
}

/** Deletes old requests for certificates. */
@Controller({ name: 'certificatesigningrequest-cleaner-controller', serviceAccount: 'certificate-controller', ...asManager })
export class CertificateSigningRequestCleanerController {
  readonly #requests: SharedInformer<CertificateSigningRequest>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {
    this.#requests = informers.for<CertificateSigningRequest>(signingRequests);
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#requests.synced;
    await repeat(this.clock, periodMs, signal, () => this.clean());
  }

  /** Deletes the requests that are due. */
  async clean(): Promise<void> {
    for (const request of this.#requests.list().filter((candidate) => isDue(candidate, this.clock.wallTime()))) {
      const { name = '', uid } = request.metadata;
      try {
        await this.client.remove(signingRequests, '', name, { preconditions: { uid } });
      } catch (error) {
        this.logger.error({ request: name, reason: (error as Error).message }, 'cannot delete a request for a certificate');
      }
    }
  }
}
