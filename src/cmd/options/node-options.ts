import { Max, Min } from 'class-validator';
import type { NodeShape } from '#plugins/nodes/options';
import type { StageObject } from '#plugins/nodes/stages/stage-types';
import { Check, Flag } from './flag.ts';

/** Simulated nodes of the server's own cluster. */
export class NodeOptions {
  /** Number of nodes of the default shape; with any, the server also schedules pods. */
  @Flag('nodes')
  @Min(0, { message: '--nodes can not be negative value' })
  @Max(5_000, { message: '--nodes can not be greater than 5000' })
  nodes = 0;

  /** Local ports that the annotation `port-forward` of simulated pods may name. */
  @Flag('node-forward-ports')
  @Check<NodeOptions>((ports: readonly string[]) =>
    ports
      .filter((port) => !/^[1-9][0-9]{0,4}$/.test(port) || Number(port) > 65_535)
      .map((port) => `--node-forward-ports: invalid port ${JSON.stringify(port)}`),
  )
  nodeForwardPorts: readonly string[] = [];

  /** File of kind KubeSchedulerConfiguration. */
  @Flag('scheduler-config')
  @Check<NodeOptions>((file: string, options) =>
    file !== '' && !options.areAny
      ? ['--scheduler-config requires simulated nodes: --nodes, or nodes.shapes of the configuration file']
      : [],
  )
  schedulerConfig = '';

  /** Nodes of other shapes; only the configuration file can set them. */
  shapes: readonly NodeShape[] = [];

  /** Stages of their pods; only the configuration file can set them. */
  stages: readonly StageObject[] = [];

  /** The shapes of all nodes. */
  async all(): Promise<readonly NodeShape[]> {
    if (this.nodes === 0) return this.shapes;
    const { NodeShape } = await import('#plugins/nodes/options');
    return [Object.assign(new NodeShape(), { count: this.nodes }), ...this.shapes];
  }

  /** True if the server has simulated nodes. */
  get areAny(): boolean {
    return this.nodes > 0 || this.shapes.length > 0;
  }
}
