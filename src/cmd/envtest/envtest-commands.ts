import { once } from 'node:events';
import type { Command } from 'commander';
import { errorMessage } from '#apiserver/base/system-error';
import { endWithParent } from '#cmd/commands/parent-process';

/** Adds `kubenest envtest …`. `args`: the whole command line; `serve` runs a server with the flags of kube-apiserver. */
export function addEnvtestCommands(program: Command, args: readonly string[], serve: (flags: readonly string[]) => Promise<void>): void {
  const envtest = program.command('envtest').description("serve as the binaries of controller-runtime's envtest");
  const orReport = async (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => envtest.error(`kubenest envtest: ${errorMessage(error)}`));
  envtest
    .command('path')
    .description('print a folder for KUBEBUILDER_ASSETS, with kube-apiserver, etcd, and kubectl if there is one')
    .action(() => orReport(printPath()));
  // The flags belong to other programs, so commander does not parse them.
  const standIn = (name: string, run: (flags: readonly string[]) => Promise<void>): void => {
    envtest
      .command(name, { hidden: true })
      .argument('[flags...]')
      .helpOption(false)
      .allowUnknownOption()
      .passThroughOptions()
      .action(() => orReport(run(args.slice(2))));
  };
  standIn('etcd', runEtcdStandIn);
  standIn('kube-apiserver', async (flags) => {
    const { flagsForServer } = await import('./etcd-stand-in.ts');
    await serve(await flagsForServer(flags));
  });
}

async function printPath(): Promise<void> {
  const { makeAssetsFolder } = await import('./assets-folder.ts');
  console.log(await makeAssetsFolder());
}

async function runEtcdStandIn(flags: readonly string[]): Promise<void> {
  const { etcdStandInHelp, startEtcdStandIn } = await import('./etcd-stand-in.ts');
  if (flags.includes('--help')) {
    process.stdout.write(etcdStandInHelp);
    return;
  }
  const ended = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  using _parent = endWithParent();
  await using _server = await startEtcdStandIn(flags);
  await ended;
}
