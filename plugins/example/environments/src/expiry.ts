import { Client, Clock, type Informer, Informers, inject, Logger, PostStartHookPlugin } from 'kubenest/sdk';
import type { Environment } from './environments.ts';

const resource = { group: 'platform.example.com', resource: 'environments' };
const dayMs = 86_400_000;
const checkMs = 60_000;

/** Maintains the status of environments: the expiry date and the phase. */
@PostStartHookPlugin({ name: 'EnvironmentExpiry' })
export class EnvironmentExpiry {
  readonly #environments: Informer<Environment>;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Client) private readonly client: Client,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {
    this.#environments = informers.for<Environment>(resource);
  }

  run(signal: AbortSignal): void {
    const subscription = this.#environments.subscribe((type, environment) => {
      if (type !== 'DELETED') this.#check(environment);
    });
    const stop = this.clock.every(checkMs, () => {
      for (const environment of this.#environments.list()) this.#check(environment);
    });
    signal.addEventListener('abort', () => {
      subscription[Symbol.dispose]();
      stop();
    });
  }

  #check(environment: Environment): void {
    if (isRight(environment)) return;
    const { namespace = '', name = '' } = environment.metadata;
    const target = { ...resource, version: 'v1', subresource: 'status' };
    this.client
      .update(target, namespace, name, (current) => {
        const now = current as Environment;
        return isRight(now) ? undefined : { ...now, status: statusOf(now) };
      })
      .catch((error: unknown) => this.logger.error({ err: error, namespace, name }, 'cannot write the status of an environment'));
  }
}

function isRight(environment: Environment): boolean {
  const { phase, expires } = statusOf(environment);
  return environment.status?.phase === phase && environment.status?.expires === expires;
}

function statusOf({ metadata, spec }: Environment): Required<NonNullable<Environment['status']>> {
  const expires = new Date(Date.parse(metadata.creationTimestamp ?? '') + spec.days * dayMs);
  return { phase: expires.getTime() <= Date.now() ? 'Expired' : 'Active', expires: expires.toISOString().replace(/\.\d+Z$/, 'Z') };
}
