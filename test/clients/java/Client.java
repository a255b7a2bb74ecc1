import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Uses a server by the kubeconfig of KUBECONFIG, with the client's defaults. Prints what it saw. */
public class Client {
  static final long SECONDS = 30;

  public static void main(String[] args) throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      System.out.println("version " + client.getKubernetesVersion().getMinor());
      informs(client);
      applies(client);
      leads(client);
    }
  }

  static ConfigMap map(String name, String value) {
    return new ConfigMapBuilder().withNewMetadata().withNamespace("default").withName(name).endMetadata().addToData("k", value).build();
  }

  static void informs(KubernetesClient client) throws Exception {
    client.resource(map("before", "1")).create();
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    try (SharedIndexInformer<ConfigMap> informer = client.configMaps().inNamespace("default").inform(new ResourceEventHandler<ConfigMap>() {
      @Override
      public void onAdd(ConfigMap added) {
        events.add("added " + added.getMetadata().getName());
      }

      @Override
      public void onUpdate(ConfigMap old, ConfigMap updated) {
        events.add("updated " + updated.getMetadata().getName() + " " + updated.getData().get("k"));
      }

      @Override
      public void onDelete(ConfigMap deleted, boolean unknown) {
        events.add("deleted " + deleted.getMetadata().getName() + " " + unknown);
      }
    })) {
      expect(events, "added before");
      client.resource(map("later", "1")).create();
      expect(events, "added later");
      client.resource(map("later", "2")).update();
      expect(events, "updated later 2");
      client.configMaps().inNamespace("default").withName("later").delete();
      expect(events, "deleted later false");
      System.out.println("informed " + informer.isWatching() + " " + informer.getStore().list().size());
    }
  }

  static void expect(BlockingQueue<String> events, String wanted) throws Exception {
    String event = events.poll(SECONDS, TimeUnit.SECONDS);
    if (!wanted.equals(event)) throw new IllegalStateException("the informer said " + event + " instead of " + wanted);
  }

  static void applies(KubernetesClient client) {
    ConfigMap applied = client.resource(map("applied", "1")).serverSideApply();
    ConfigMap forced = client.resource(map("applied", "2")).patch(new PatchContext.Builder()
        .withPatchType(PatchType.SERVER_SIDE_APPLY).withFieldManager("other").withForce(true).build());
    System.out.println("applied " + applied.getData().get("k") + " " + applied.getMetadata().getManagedFields().get(0).getOperation()
        + ", forced " + forced.getData().get("k"));
  }

  static void leads(KubernetesClient client) throws Exception {
    CompletableFuture<Void> started = new CompletableFuture<>();
    CompletableFuture<Void> stopped = new CompletableFuture<>();
    CompletableFuture<?> election = client.leaderElector()
        .withConfig(new LeaderElectionConfigBuilder()
            .withName("election").withLeaseDuration(Duration.ofSeconds(15)).withRenewDeadline(Duration.ofSeconds(10))
            .withRetryPeriod(Duration.ofSeconds(2)).withReleaseOnCancel()
            .withLock(new LeaseLock("default", "election", "java"))
            .withLeaderCallbacks(new LeaderCallbacks(() -> started.complete(null), () -> stopped.complete(null), leader -> { }))
            .build())
        .build().start();
    started.get(SECONDS, TimeUnit.SECONDS);
    String holder = client.leases().inNamespace("default").withName("election").get().getSpec().getHolderIdentity();
    election.cancel(true);
    stopped.get(SECONDS, TimeUnit.SECONDS);
    System.out.println("led as " + holder);
  }
}
