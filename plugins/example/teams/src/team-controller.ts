import {
  Controller,
  ControllerClient,
  EventRecorder,
  generationChanged,
  inject,
  isControlledBy,
  type KubeObject,
  newControllerReference,
  type ReconcileRequest,
  type SharedInformer,
  SharedInformers,
} from 'kubenest/sdk';
import type { Team } from './teams.ts';

const teams = { group: 'teams.example.com', version: 'v1', resource: 'teams', kind: 'Team', isClusterScoped: true } as const;
const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
const quotas = { group: '', version: 'v1', resource: 'resourcequotas' };
const roleBindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' };

/** Gives each team its namespaces, with a quota and a role binding for the members, and deletes those of removed environments. */
@Controller({
  name: 'team-controller',
  for: teams,
  filter: generationChanged,
  owns: [namespaces],
  rules: [
    { apiGroups: ['teams.example.com'], resources: ['teams/status'], verbs: ['update', 'patch'] },
    { apiGroups: [''], resources: ['namespaces', 'resourcequotas'], verbs: ['create', 'patch', 'delete'] },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'], verbs: ['create', 'patch'] },
    // Without it, the controller could not grant a role that it does not have itself.
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], resourceNames: ['edit'], verbs: ['bind'] },
  ],
})
export class TeamController {
  readonly #teams: SharedInformer<Team>;
  readonly #namespaces: SharedInformer;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(EventRecorder) private readonly recorder: EventRecorder,
    @inject(SharedInformers) informers: SharedInformers,
  ) {
    this.#teams = informers.for<Team>(teams);
    this.#namespaces = informers.for(namespaces);
  }

  async reconcile({ name }: ReconcileRequest): Promise<void> {
    const team = this.#teams.get('', name);
    // The garbage collector deletes the namespaces of a deleted team.
    if (!team || team.metadata.deletionTimestamp) return;
    const wanted = team.spec.environments.map((environment) => `${name}-${environment}`);
    for (const namespace of wanted) await this.#ensure(team, namespace);
    for (const { metadata } of this.#namespaces.list().filter((namespace) => isControlledBy(namespace, team))) {
      if (wanted.includes(metadata.name as string) || metadata.deletionTimestamp) continue;
      await this.client.remove(namespaces, '', metadata.name as string, { preconditions: { uid: metadata.uid } });
      this.recorder.event(team, 'Normal', 'NamespaceDeleted', `Deleted namespace ${metadata.name}`);
    }
    const status = { namespaces: wanted, observedGeneration: team.metadata.generation };
    await this.client.patch({ ...teams, subresource: 'status' }, '', name, { type: 'merge', patch: { status } });
  }

  /** Applies the objects of one environment, which leaves the fields of others alone. */
  async #ensure(team: Team, namespace: string): Promise<void> {
    const { members = [], quota } = team.spec;
    if (!this.#namespaces.get('', namespace)) this.recorder.event(team, 'Normal', 'NamespaceCreated', `Created namespace ${namespace}`);
    await this.client.apply(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: namespace,
        labels: { 'teams.example.com/team': team.metadata.name as string },
        ownerReferences: [newControllerReference(team, teams)],
      },
    });
    const metadata = { namespace, name: 'team' };
    await this.client.apply(quotas, { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: quota ?? {} } } as KubeObject);
    await this.client.apply(roleBindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: members.map((member) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: member })),
    } as KubeObject);
  }
}
