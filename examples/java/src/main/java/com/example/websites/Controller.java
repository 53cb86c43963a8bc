package com.example.websites;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;

/** Reconciles the websites of a namespace when they or their Deployments change, until it is closed. */
public final class Controller implements AutoCloseable {
  private static final Duration RETRY = Duration.ofMillis(200);

  private final ScheduledExecutorService queue = Executors.newSingleThreadScheduledExecutor();
  private final Set<String> queued = ConcurrentHashMap.newKeySet();
  private final Reconciler reconciler;
  private final String namespace;
  private final SharedIndexInformer<Website> websites;
  private final SharedIndexInformer<Deployment> deployments;

  public Controller(KubernetesClient client, Reconciler reconciler, String namespace) {
    this.reconciler = reconciler;
    this.namespace = namespace;
    websites = client.resources(Website.class).inNamespace(namespace).inform(new Enqueue<>());
    deployments = client.apps().deployments().inNamespace(namespace).withLabel("website").inform(new Enqueue<>());
  }

  /** A Deployment has the name of its website. */
  private final class Enqueue<T extends HasMetadata> implements ResourceEventHandler<T> {
    @Override
    public void onAdd(T added) {
      enqueue(added.getMetadata().getName(), Duration.ZERO);
    }

    @Override
    public void onUpdate(T before, T after) {
      enqueue(after.getMetadata().getName(), Duration.ZERO);
    }

    @Override
    public void onDelete(T deleted, boolean isStateUnknown) {
      enqueue(deleted.getMetadata().getName(), Duration.ZERO);
    }
  }

  private void enqueue(String name, Duration delay) {
    if (!queued.add(name) || queue.isShutdown()) return; // It is queued already.
    queue.schedule(() -> run(name), delay.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void run(String name) {
    queued.remove(name);
    try {
      reconciler.reconcile(namespace, name)
          .ifPresent(rest -> queue.schedule(() -> run(name), rest.toMillis(), TimeUnit.MILLISECONDS));
    } catch (RuntimeException e) {
      if (queue.isShutdown()) return;
      System.err.println("reconciling " + name + ": " + e.getMessage());
      enqueue(name, RETRY);
    }
  }

  @Override
  public void close() {
    websites.close();
    deployments.close();
    queue.shutdownNow();
  }
}
