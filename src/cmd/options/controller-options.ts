import { controllerNames } from '#cmd/builtin-controllers';
import { Check, Flag } from './flag.ts';
import { nearestName } from './nearest-name.ts';

/** Controllers that run in the server. Upstream: cmd/kube-controller-manager/app/options. */
export class ControllerOptions {
  /** `*`: all that run by default, `NAME`: this one too, `-NAME`: all but this one, `-*`: none. */
  @Flag('controllers')
  @Check<ControllerOptions>((selection: readonly string[]) => selection.map((entry) => entry.replace(/^-/, '')).flatMap(problemsOf))
  controllers: readonly string[] = [];
}

function problemsOf(name: string): string[] {
  if (name === '*' || controllerNames.includes(name)) return [];
  const nearest = nearestName(name, controllerNames);
  return [`--controllers: unknown controller ${JSON.stringify(name)}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`];
}
