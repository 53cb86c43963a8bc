package com.example.websites;

import java.time.Instant;

import io.fabric8.kubernetes.client.KubernetesClientBuilder;

/** Runs the controller in a cluster. The webhook is served by the framework of the operator. */
public final class Main {
  private Main() {}

  public static void main(String[] args) throws InterruptedException {
    try (var client = new KubernetesClientBuilder().build();
        var controller = new Controller(client, new Reconciler(client, Instant::now), client.getNamespace())) {
      Thread.currentThread().join();
    }
  }
}
