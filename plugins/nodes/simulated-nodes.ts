import {
  aborted,
  Clock,
  Configuration,
  Controller,
  ControllerClient,
  EventRecorder,
  Informers,
  inject,
  Logger,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { ConfigMap, Node, PersistentVolumeClaim, Pod, Secret, Service } from 'kubenest/types/core_v1';
import type { KubeletServers } from './kubelet/kubelet-server.ts';
import { type PlannedNode, planNodes, simulatedAnnotation } from './node/node-object.ts';
import { NodeRegistrar } from './node/node-registrar.ts';
import { SimulatedNode } from './node/simulated-node.ts';
import { SimulatedNodesOptions } from './options.ts';
import type { ClusterSources, SourceResource } from './pods/cluster-sources.ts';
import { KnownPods } from './pods/known-pods.ts';
import { PodFiles } from './pods/pod-files.ts';
import { type LifeOutcome, type LifeStep, nextLifeStep, type PodHost } from './pods/pod-life.ts';
import { PodRunner } from './pods/pod-runner.ts';
import { ServiceVariables } from './pods/service-variables.ts';
import { annotationPrefix, settingProblems } from './pods/settings.ts';
import { claimKey, SharedVolumes } from './pods/shared-volumes.ts';
import { retried } from './retried.ts';
import { nodeRules } from './rules.ts';
import { compileStage } from './stages/stage.ts';
import { StageSource } from './stages/stage-source.ts';
import { StagedLife } from './stages/staged-life.ts';
import { provisioner } from './storage/storage-classes.ts';

/**
 * Simulated nodes: registers them, renews their leases, and plays the lives of their pods. It manages every node with the annotation
 * `node.kubenest.dev/simulated: "true"`, so that real nodes can join beside them. Upstream: kubernetes/pkg/kubelet, and kwok.
 */
@Controller({
  name: 'kubelet',
  lease: 'kubenest-nodes',
  userAgent: 'kubelet',
  events: 'v1',
  rules: nodeRules,
  configuration: SimulatedNodesOptions,
})
export class SimulatedNodes {
  readonly #podInformer: SharedInformer<Pod>;
  readonly #pods: KnownPods;
  readonly #files: PodFiles;
  readonly #nodes: SharedInformer<Node>;
  readonly #claims: SharedInformer<PersistentVolumeClaim>;
  readonly #services: ServiceVariables;
  readonly #sources: Readonly<Record<SourceResource, SharedInformer<ConfigMap | Secret>>>;
  readonly #simulated = new Map<string, SimulatedNode>();
  readonly #registrar: NodeRegistrar;
  readonly #runner: PodRunner;
  readonly #stages: StageSource;
  readonly #staged: StagedLife;
  /** Reported problems of annotations, by UID of the node or pod. */
  readonly #problems = new Map<string, string>();

  constructor(
    @inject(Configuration) private readonly options: SimulatedNodesOptions,
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) private readonly informers: SharedInformers,
    @inject(Informers) sources: Informers,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {
    this.#podInformer = informers.for<Pod>({ group: '', resource: 'pods' });
    this.#pods = new KnownPods(this.#podInformer);
    this.#nodes = informers.for<Node>({ group: '', resource: 'nodes' });
    this.#claims = informers.for<PersistentVolumeClaim>({ group: '', resource: 'persistentvolumeclaims' });
    const volumes = new SharedVolumes((namespace, name) => this.#claims.get(namespace, name), provisioner);
    this.#services = new ServiceVariables(informers.for<Service>({ group: '', resource: 'services' }));
    this.#sources = {
      configmaps: informers.for<ConfigMap>({ group: '', resource: 'configmaps' }),
      secrets: informers.for<Secret>({ group: '', resource: 'secrets' }),
    };
    const changed = ({ metadata }: Pod): void => this.#runner.replanPod(metadata.uid ?? '');
    this.#files = new PodFiles(this.#pods, volumes, changed, undefined, this.#clusterSources());
    this.#registrar = new NodeRegistrar(client, clock, logger);
    const hostOf = ({ spec }: Pod): SimulatedNode | undefined => this.#simulated.get(spec?.nodeName ?? '');
    const stages = options.stages.map((stage) => compileStage(stage));
    this.#stages = new StageSource(stages, sources, clock, logger, () => this.#stagesChanged());
    this.#staged = new StagedLife(
      () => this.#stages.current,
      () => clock.wallTime(),
    );
    const nextStep = (pod: Pod, host: PodHost): LifeStep | undefined => {
      const staged = this.#staged.next(pod, host);
      return staged === 'none' ? nextLifeStep(pod, host, clock.wallTime()) : staged;
    };
    const onOutcome = (pod: Pod, outcome: LifeOutcome): void => {
      hostOf(pod)?.happened(pod, outcome);
      if (!outcome.deletes) this.#staged.done(pod);
    };
    this.#runner = new PodRunner(client, options.events ? recorder : undefined, clock, logger, hostOf, nextStep, onOutcome);
  }

  #clusterSources(): ClusterSources {
    return {
      read: (resource, namespace, name) => this.#sources[resource].get(namespace, name),
      services: (namespace, time) => this.#services.ofNamespace(namespace, time),
      apiServer: () => this.#services.ofApiServer(),
      allocatable: (node) => this.#nodes.get('', node)?.status?.allocatable ?? {},
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    await using cleanUp = new AsyncDisposableStack();
    cleanUp.use(this.#services);
    const retry = ({ metadata }: ConfigMap | Secret): void => this.#files.sourceChanged(metadata.namespace ?? '');
    for (const informer of Object.values(this.#sources)) cleanUp.use(informer.handle({ added: retry, updated: retry }));
    cleanUp.defer(() => this.#runner.stop());
    this.#stages.start(this.informers);
    cleanUp.use(this.#stages);
    const kubelets = await this.#startKubelets();
    if (kubelets) cleanUp.use(kubelets);
    cleanUp.use(
      this.#nodes.handle({
        added: (node) => this.#nodeChanged(node),
        updated: (node) => this.#nodeChanged(node),
        deleted: ({ metadata }) => {
          this.#simulated.delete(metadata.name ?? '');
          this.#files.nodeDeleted(metadata.name ?? '');
          this.#problems.delete(metadata.uid ?? '');
        },
      }),
    );
    cleanUp.use(
      this.#claims.handle({
        deleted: ({ metadata: { namespace = '', name = '' } }) => this.#files.volumeDeleted(claimKey(namespace, name)),
      }),
    );
    cleanUp.use(
      this.#podInformer.handle({
        added: (pod) => this.#podChanged(pod),
        updated: (pod) => this.#podChanged(pod),
        deleted: (pod) => this.#podDeleted(pod),
      }),
    );
    cleanUp.defer(this.#registrar.start(() => [...this.#simulated.values()].map(({ node }) => node)));
    await this.#registerAll(kubelets, signal);
    await aborted(signal);
  }

  /** The kubelets' server is not loaded unless there are certificates for it. */
  async #startKubelets(): Promise<KubeletServers | undefined> {
    const { kubelet } = this.options;
    if (!kubelet) return undefined;
    const [{ KubeletServers }, { metricsPages }, { ServiceAccountTokens }] = await Promise.all([
      import('./kubelet/kubelet-server.ts'),
      import('./metrics/kubelet-pages.ts'),
      import('./kubelet/service-account-tokens.ts'),
    ]);
    const tokens = new ServiceAccountTokens(this.client, this.clock);
    return new KubeletServers(kubelet, this.#pods, metricsPages(this.#pods), this.options.forwardPorts, this.#files, tokens);
  }

  /** Registers the configured nodes, a few at a time. On a new store, the permissions may not be known yet. */
  async #registerAll(kubelets: KubeletServers | undefined, signal: AbortSignal): Promise<void> {
    const planned = planNodes(this.options.nodes);
    const { gitVersion } = await this.client.read<{ gitVersion: string }>('/version');
    const register = async (node: PlannedNode): Promise<void> =>
      this.#registrar.register(node, await kubelets?.start(node.name), gitVersion);
    const worker = async (): Promise<void> => {
      for (let next = planned.shift(); next && !signal.aborted; next = planned.shift()) {
        const node = next;
        await retried(
          () => register(node),
          this.clock,
          signal,
          ({ message: reason }) => this.logger.error({ node: node.name, reason }, 'cannot register a simulated node yet'),
        );
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  }

  #nodeChanged(node: Node): void {
    const name = node.metadata.name ?? '';
    const present = this.#simulated.get(name);
    this.#report(node, nodeProblems(node));
    if (node.metadata.annotations?.[simulatedAnnotation] !== 'true') return void this.#simulated.delete(name);
    void this.#registrar.allocate(node);
    if (present) return present.update(node);
    this.#simulated.set(name, new SimulatedNode(node, this.#files));
    for (const pod of this.#pods.ofNode(name)) this.#podChanged(pod);
  }

  #podChanged(pod: Pod): void {
    this.#pods.changed(pod, false);
    const host = this.#simulated.get(pod.spec?.nodeName ?? '');
    if (!host) return;
    host.adopt(pod);
    this.#files.podChanged(pod);
    this.#report(pod, settingProblems(pod));
    this.#runner.set(pod);
  }

  /** Sends an event about annotations of the simulation that have no effect, once for the same ones. */
  #report(object: Node | Pod, problems: readonly string[]): void {
    const uid = object.metadata.uid ?? '';
    const message = problems.join('; ');
    if ((this.#problems.get(uid) ?? '') === message) return;
    this.#problems.set(uid, message);
    if (message !== '') this.recorder.event(object, 'Warning', 'InvalidSimulationAnnotation', message);
  }

  #stagesChanged(): void {
    this.#staged.stagesChanged();
    this.#runner.replan();
  }

  #podDeleted(pod: Pod): void {
    this.#pods.changed(pod, true);
    this.#runner.delete(pod.metadata.uid ?? '');
    this.#files.podDeleted(pod, this.clock.wallTime());
    this.#problems.delete(pod.metadata.uid ?? '');
    this.#staged.forget(pod.metadata.uid ?? '');
    this.#simulated.get(pod.spec?.nodeName ?? '')?.forget(pod);
  }
}

/** Describes the annotations of the simulation that a node has and that have no effect. */
function nodeProblems({ metadata }: Node): string[] {
  return Object.entries(metadata.annotations ?? {}).flatMap(([key, value]) => {
    if (key === simulatedAnnotation) return value === 'true' || value === 'false' ? [] : [`annotation ${key}: must be "true" or "false"`];
    return key.startsWith(annotationPrefix) ? [`unknown annotation ${key}`] : [];
  });
}
