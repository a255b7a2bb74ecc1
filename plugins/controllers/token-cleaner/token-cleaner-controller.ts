import {
  Clock,
  Controller,
  ControllerClient,
  inject,
  isConflict,
  kindOf,
  type ReconcileRequest,
  type ReconcileResult,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { Secret } from 'kubenest/types/core_v1';
import { bootstrapTokenExpiresInMs, bootstrapTokenNamespace, bootstrapTokenType } from '../../common/bootstrap-tokens.ts';
import { asManager } from '../common/as-manager.ts';

const secrets = kindOf<Secret>({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' });

/** Deletes bootstrap tokens when they expire. Upstream: pkg/controller/bootstrap/tokencleaner.go. */
@Controller({
  name: 'token-cleaner-controller',
  serviceAccount: 'token-cleaner',
  for: secrets,
  filter: ({ metadata, type }) => metadata.namespace === bootstrapTokenNamespace && type === bootstrapTokenType,
  ...asManager,
})
export class TokenCleanerController {
  readonly #secrets: SharedInformer<Secret>;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#secrets = informers.for(secrets);
  }

  async reconcile({ namespace, name }: ReconcileRequest): Promise<ReconcileResult> {
    const secret = this.#secrets.get(namespace, name);
    const requeueAfterMs = secret && bootstrapTokenExpiresInMs(secret, this.clock.wallTime());
    if (requeueAfterMs === undefined) return {};
    if (requeueAfterMs > 0) return { requeueAfterMs };
    try {
      await this.client.remove(secrets, namespace, name, { preconditions: { uid: secret?.metadata.uid } });
    } catch (error) {
      // Another Secret has the name by now.
      if (!isConflict(error)) throw error;
    }
    return {};
  }
}
