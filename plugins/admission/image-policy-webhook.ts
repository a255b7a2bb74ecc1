import { AdmissionPlugin, type Attributes, Clock, Configuration, forbidden, inject, Logger, ShutdownSignal } from 'kubenest/sdk';
import { JsonClient, readKubeconfig, type ServiceConnection } from '#sdk/internal';
import {
  ConfigurationError,
  IsBoolean,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Max,
  Min,
  Type,
  ValidateNested,
} from 'kubenest/sdk/configuration';
import type { Pod } from '../common/pod-walker.ts';

const prefix = 'imagepolicywebhook.image-policy.k8s.io/';
const failedOpenAnnotation = 'alpha.image-policy.k8s.io/failed-open';
const cacheSize = 1_024;
const timeoutMs = 30_000;

/**
 * Configuration of the webhook. Durations are integers; 0 selects the default, -1 disables the setting. Upstream:
 * kubernetes/plugin/pkg/admission/imagepolicy/config.go.
 */
export class ImagePolicy {
  @IsString()
  @IsNotEmpty()
  kubeConfigFile = '';

  /** Seconds for which an allowed review is cached. */
  @IsOptional()
  @IsInt()
  @Min(-1)
  @Max(1_800, { message: 'valid value is between 1s and 30m0s' })
  allowTTL = 0;

  /** Seconds for which a denied review is cached. */
  @IsOptional()
  @IsInt()
  @Min(-1)
  @Max(1_800, { message: 'valid value is between 1s and 30m0s' })
  denyTTL = 0;

  /** Milliseconds before the first retry. */
  @IsOptional()
  @IsInt()
  @Min(-1)
  @Max(300_000, { message: 'valid value is between 1ns and 5m0s' })
  retryBackoff = 0;

  /** Verdict if the webhook fails. */
  @IsOptional()
  @IsBoolean()
  defaultAllow = false;
}

export class ImagePolicyConfiguration {
  @ValidateNested()
  @Type(() => ImagePolicy)
  imagePolicy = new ImagePolicy();

  #connection: ServiceConnection | undefined;

  /** Connection parameters; undefined before `load`. */
  get connection(): ServiceConnection | undefined {
    return this.#connection;
  }

  /** Reads the kubeconfig file. Rejects if it is invalid. */
  async load(): Promise<void> {
    this.#connection = await readKubeconfig(this.imagePolicy.kubeConfigFile);
  }
}

interface ReviewStatus {
  readonly allowed?: boolean;
  readonly reason?: string;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** Has a webhook decide whether a pod's images are allowed. Upstream: kubernetes/plugin/pkg/admission/imagepolicy/admission.go. */
@AdmissionPlugin({
  name: 'ImagePolicyWebhook',
  configuration: ImagePolicyConfiguration,
  match: [{ groups: [''], resources: ['pods'], subresources: ['', 'ephemeralcontainers'], operations: ['CREATE', 'UPDATE'] }],
})
export class ImagePolicyWebhook {
  readonly #client: JsonClient;
  /** Cached reviews, oldest first. */
  readonly #cache = new Map<string, { readonly status: ReviewStatus; readonly until: number }>();
  readonly #policy: ImagePolicy;

  constructor(
    @inject(Configuration) { imagePolicy, connection }: ImagePolicyConfiguration,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
    @inject(ShutdownSignal) shutdown: ShutdownSignal,
  ) {
    if (!connection) throw new ConfigurationError(['no config specified']);
    this.#policy = imagePolicy;
    const client = new JsonClient(connection, { timeoutMs, retryMs: setting(imagePolicy.retryBackoff, 500) });
    this.#client = client;
    shutdown.addEventListener('abort', () => client[Symbol.dispose](), { once: true });
  }

  async validate(request: Attributes<Pod>): Promise<void> {
    const spec = reviewSpecOf(request);
    const key = JSON.stringify(spec);
    const status = this.#remembered(key) ?? (await this.#ask(request, key, spec));
    if (!status) return;
    for (const [name, value] of Object.entries(status.auditAnnotations ?? {})) request.addAnnotation(prefix + name, value);
    if (status.allowed) return;
    throw forbidden(
      request,
      status.reason
        ? `image policy webhook backend denied one or more images: ${status.reason}`
        : 'one or more images rejected by webhook backend',
    );
  }

  #remembered(key: string): ReviewStatus | undefined {
    const entry = this.#cache.get(key);
    return entry && entry.until > this.clock.now() ? entry.status : undefined;
  }

  /** Sends the review. Resolves to undefined if the webhook failed and pods are allowed by default. */
  async #ask(request: Attributes, key: string, spec: object): Promise<ReviewStatus | undefined> {
    let status: ReviewStatus;
    try {
      const review = await this.#client.post({
        kind: 'ImageReview',
        apiVersion: 'imagepolicy.k8s.io/v1alpha1',
        metadata: {},
        spec,
        status: {},
      });
      status = (review['status'] ?? {}) as ReviewStatus;
    } catch (error) {
      const reason = (error as Error).message;
      this.logger.warn({ reason, allowed: this.#policy.defaultAllow }, 'image policy webhook failed');
      if (!this.#policy.defaultAllow) throw forbidden(request, reason);
      request.addAnnotation(`${prefix}failed-open`, 'true');
      (request.object.metadata.annotations ??= {})[failedOpenAnnotation] = 'true';
      return undefined;
    }
    const seconds = status.allowed ? setting(this.#policy.allowTTL, 300) : setting(this.#policy.denyTTL, 30);
    this.#cache.delete(key);
    if (this.#cache.size >= cacheSize) this.#cache.delete(this.#cache.keys().next().value as string);
    this.#cache.set(key, { status, until: this.clock.now() + seconds * 1_000 });
    return status;
  }
}

/** Applies the defaults: 0 selects the default, -1 none. */
function setting(value: number, usual: number): number {
  return value === 0 ? usual : Math.max(0, value);
}

function reviewSpecOf({ object: { metadata, spec }, subresource, namespace }: Attributes<Pod>): object {
  const containers = subresource === '' ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])] : (spec.ephemeralContainers ?? []);
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.includes('.image-policy.k8s.io/'));
  return {
    ...(containers.length > 0 && { containers: containers.map(({ image }) => ({ ...(image && { image }) })) }),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    ...(namespace && { namespace }),
  };
}
