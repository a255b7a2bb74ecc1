import type { Clock, Informers, KubeObject, Logger, SharedInformers } from 'kubenest/sdk';
import { compileStage, type Stage, StageError } from './stage.ts';
import type { StageObject } from './stage-types.ts';

const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' } as const;
const stages = { group: 'kwok.x-k8s.io', resource: 'stages' } as const;
const definitionName = `${stages.resource}.${stages.group}`;
const retryMs = 500;

interface Definition extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] };
}

interface Subscription extends Disposable {
  /** UID of the definition whose objects are followed. */
  readonly definition: string | undefined;
}

/**
 * The stages of pods: the configured ones, and the objects of the kind Stage while its CustomResourceDefinition is installed. An object
 * replaces the configured stage of its name. Objects that cannot be used are logged and left out.
 */
export class StageSource implements Disposable {
  readonly #configured: ReadonlyMap<string, Stage>;
  readonly #objects = new Map<string, Stage>();
  readonly #resources = new DisposableStack();
  #subscription: Subscription | undefined;
  #current: readonly Stage[];

  /** `changed` is called after each change of the stages. */
  constructor(
    configured: readonly Stage[],
    private readonly informers: Informers,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly changed: () => void,
  ) {
    this.#configured = new Map(configured.map((stage) => [stage.name, stage]));
    this.#current = configured;
  }

  get current(): readonly Stage[] {
    return this.#current;
  }

  /** Follows the objects until it is disposed of. */
  start(shared: SharedInformers): void {
    const informer = shared.for<Definition>(definitions);
    const follow = ({ metadata }: Definition): void => {
      if (metadata.name === definitionName) this.#follow(() => informer.get('', definitionName));
    };
    this.#resources.use(
      informer.handle({
        added: follow,
        updated: follow,
        deleted: ({ metadata }) => {
          if (metadata.name === definitionName) this.#end();
        },
      }),
    );
  }

  [Symbol.dispose](): void {
    this.#resources.dispose();
    this.#subscription?.[Symbol.dispose]();
  }

  #follow(definition: () => Definition | undefined): void {
    const { metadata, status } = definition() ?? {};
    if (!metadata || this.#resources.disposed || this.#subscription?.definition === metadata.uid) return;
    if (!status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True')) return;
    this.#end();
    try {
      const following = this.informers.for(stages).subscribe((type, object) => this.#objectChanged(type, object));
      this.#subscription = { definition: metadata.uid, [Symbol.dispose]: () => following[Symbol.dispose]() };
    } catch {
      // The server serves a definition a moment after it is established.
      this.#resources.defer(this.clock.after(retryMs, () => this.#follow(definition)));
    }
  }

  #end(): void {
    this.#subscription?.[Symbol.dispose]();
    this.#subscription = undefined;
    if (this.#objects.size === 0) return;
    this.#objects.clear();
    this.#update();
  }

  #objectChanged(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: StageObject & KubeObject): void {
    const name = object.metadata.name ?? '';
    const stage = type === 'DELETED' ? undefined : this.#compile(object);
    if (stage) this.#objects.set(name, stage);
    else if (!this.#objects.delete(name)) return;
    this.#update();
  }

  #compile(object: StageObject): Stage | undefined {
    try {
      return compileStage(object);
    } catch (error) {
      if (!(error instanceof StageError)) throw error;
      this.logger.warn({ reason: error.message }, 'cannot use a stage');
      return undefined;
    }
  }

  #update(): void {
    const byName = new Map([...this.#configured, ...this.#objects]);
    this.#current = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, stage]) => stage);
    this.changed();
  }
}
