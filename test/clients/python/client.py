"""Creates, reads, changes, watches and deletes with the Python client; prints a line for each thing that worked."""

import threading

from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

config.load_kube_config()
core = client.CoreV1Api()
apps = client.AppsV1Api()
namespace = "default"

events = []
start = core.list_namespaced_config_map(namespace).metadata.resource_version


def follow():
    changes = watch.Watch().stream(core.list_namespaced_config_map, namespace, resource_version=start, timeout_seconds=30)
    for event in changes:
        events.append((event["type"], event["object"].metadata.name, (event["object"].data or {}).get("a")))
        if event["type"] == "DELETED":
            return


follower = threading.Thread(target=follow)
follower.start()

made = core.create_namespaced_config_map(
    namespace, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="a", labels={"app": "x"}), data={"a": "1"})
)
print("created", made.metadata.name, made.metadata.creation_timestamp.tzinfo is not None)
core.patch_namespaced_config_map("a", namespace, {"data": {"a": "2"}})
read = core.read_namespaced_config_map("a", namespace)
read.data["a"] = "3"
core.replace_namespaced_config_map("a", namespace, read)
try:
    core.replace_namespaced_config_map("a", namespace, made)
except ApiException as error:
    print("conflict", error.status, error.reason)
print("listed", [item.data["a"] for item in core.list_namespaced_config_map(namespace, label_selector="app=x").items])
core.delete_namespaced_config_map("a", namespace)
follower.join()
print("watched", events)
try:
    core.read_namespaced_config_map("a", namespace)
except ApiException as error:
    print("gone", error.status)

pod = client.V1PodTemplateSpec(
    metadata=client.V1ObjectMeta(labels={"app": "x"}),
    spec=client.V1PodSpec(containers=[client.V1Container(name="c", image="i")]),
)
apps.create_namespaced_deployment(
    namespace,
    client.V1Deployment(
        metadata=client.V1ObjectMeta(name="web"),
        spec=client.V1DeploymentSpec(replicas=1, selector=client.V1LabelSelector(match_labels={"app": "x"}), template=pod),
    ),
)
apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 4}})
print("scaled", apps.read_namespaced_deployment("web", namespace).spec.replicas)

maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")
body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "1"}}
applied = maps.server_side_apply(body=body, name="applied", namespace=namespace, field_manager="python")
print("applied", [(entry.manager, entry.operation) for entry in applied.metadata.managedFields])

for i in range(25):
    core.create_namespaced_secret(namespace, client.V1Secret(metadata=client.V1ObjectMeta(name=f"s{i:02}")))
first = core.list_namespaced_secret(namespace, limit=10)
names = [item.metadata.name for item in first.items]
token = first.metadata._continue
while token:
    page = core.list_namespaced_secret(namespace, limit=10, _continue=token)
    names += [item.metadata.name for item in page.items]
    token = page.metadata._continue
print("paged", len(names), names == sorted(names))
print("version", client.VersionApi().get_code().major)
