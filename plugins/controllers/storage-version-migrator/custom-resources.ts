import { type ControllerClient, type KubeObject, isConflict } from 'kubenest/sdk';
import type { CustomResourceDefinition } from 'kubenest/kinds';

const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' } as const;
const fieldManager = 'migration-runner-controller';
/** Attempts at a definition that others change at the same time. Upstream: retry.DefaultRetry. */
const attempts = 5;

/** Reports the migration of a custom resource in the status of its definition. */
export class CustomResourceMigration {
  constructor(
    private readonly client: ControllerClient,
    private readonly now: () => string,
  ) {}

  /** `name`: name of the definition. Does nothing if it does not exist. */
  async begin(name: string, migration: string): Promise<void> {
    await this.#apply(name, () => ({ status: 'True', reason: 'MigrationRunning', message: `Migration ${migration} is running` }));
  }

  /** The storage version becomes the only stored one, unless the definition has changed meanwhile; as upstream, also after a failure. */
  async end(name: string, hasSucceeded: boolean): Promise<void> {
    await this.#apply(name, ({ metadata, spec, status }) => {
      const begun = status?.conditions?.find(({ type }) => type === 'StorageMigrating');
      const isUnchanged = begun?.observedGeneration === metadata.generation;
      const storage = spec?.versions?.find((version) => version.storage)?.name;
      const result = isUnchanged
        ? ' and the stored versions have been updated'
        : ' but the stored versions have not been updated due to a generation mismatch';
      return {
        status: 'False',
        ...(hasSucceeded
          ? { reason: 'MigrationSucceeded', message: `The migration has succeeded${result}` }
          : { reason: 'MigrationFailed', message: 'The migration has failed' }),
        ...(isUnchanged && storage !== undefined && { storedVersions: [storage] }),
      };
    });
  }

  async #apply(name: string, outcomeOf: (definition: CustomResourceDefinition) => Outcome): Promise<void> {
    for (let left = attempts; ; left -= 1) {
      const definition = await this.client.get<CustomResourceDefinition>(definitions, '', name);
      if (!definition) return;
      const { storedVersions, ...condition } = outcomeOf(definition);
      const { resourceVersion, generation } = definition.metadata;
      const observed = { type: 'StorageMigrating', ...condition, lastTransitionTime: this.now(), observedGeneration: generation };
      const applied = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name, resourceVersion },
        status: { conditions: [observed], ...(storedVersions && { storedVersions }) },
      };
      try {
        await this.client.apply({ ...definitions, subresource: 'status' }, applied as KubeObject, { force: true, fieldManager });
        return;
      } catch (error) {
        if (left <= 1 || !isConflict(error)) throw error;
      }
    }
  }
}

interface Outcome {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly storedVersions?: readonly string[];
}
