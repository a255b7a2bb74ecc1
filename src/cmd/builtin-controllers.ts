import type { ControllerClass } from '#apiserver/controllers/controller';

/** A controller of the server that `--controllers` can name. */
interface BuiltInController {
  /** True if `*` leaves it out. */
  readonly isOffByDefault?: true;
  /** Loads its class, which is not needed unless it runs. */
  load(): Promise<ControllerClass>;
}

/** Controllers by name, in upstream's order. Upstream: cmd/kube-controller-manager/names and app/controller_descriptor.go. */
const controllers: Readonly<Record<string, BuiltInController>> = {
  'namespace-controller': {
    load: async () => (await import('#plugins/controllers/namespace/namespace-controller')).NamespaceController,
  },
};

/** Names of all controllers. */
export const controllerNames: readonly string[] = Object.keys(controllers);

/**
 * Loads the controllers that a selection names: `*` stands for all that run by default, `NAME` adds one, `-NAME` leaves one out. Throws for
 * an unknown name. Upstream: controller-manager/app.IsControllerEnabled.
 */
export async function loadControllers(selection: readonly string[]): Promise<ControllerClass[]> {
  const unknown = selection.find((name) => name !== '*' && !Object.hasOwn(controllers, name.replace(/^-/, '')));
  if (unknown !== undefined) throw new Error(`unknown controller "${unknown.replace(/^-/, '')}"`);
  const selected = Object.entries(controllers).filter(([name, { isOffByDefault }]) => isSelected(selection, name, !isOffByDefault));
  return Promise.all(selected.map(([, { load }]) => load()));
}

/** The first entry that names the controller decides, else `*`. */
function isSelected(selection: readonly string[], name: string, isDefault: boolean): boolean {
  for (const entry of selection) {
    if (entry === name) return true;
    if (entry === `-${name}`) return false;
  }
  return isDefault && selection.includes('*');
}
