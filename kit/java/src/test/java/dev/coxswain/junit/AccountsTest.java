package dev.coxswain.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.UncheckedIOException;
import java.time.Duration;

import io.fabric8.kubernetes.api.model.authentication.SelfSubjectReview;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

class AccountsTest {
  @RegisterExtension
  static final CoxswainExtension coxswain = CoxswainExtension.withFlags("--virtual-clock");

  private static UserInfo userOf(KubernetesClient client) {
    return client.resource(new SelfSubjectReview()).create().getStatus().getUserInfo();
  }

  private static void assertFails(int code, Executable request) {
    assertEquals(code, assertThrows(KubernetesClientException.class, request).getCode());
  }

  @Test
  void rightsAreThoseOfItsRoles(CoxswainServer server, KubernetesClient client) {
    var namespace = client.getNamespace();
    try (var own = server.newClientAs(namespace, "operator")) {
      assertEquals("system:serviceaccount:" + namespace + ":operator", userOf(own).getUsername());
      assertFails(403, () -> own.configMaps().list());
      var binding = new RoleBindingBuilder().withNewMetadata().withName("operator").endMetadata()
          .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "view")
          .addNewSubject("", "ServiceAccount", "operator", namespace);
      client.resource(binding.build()).create();
      own.configMaps().list();
      assertFails(403, () -> own.configMaps().withName("a").delete());
    }
  }

  @Test
  void anAccountThatExistsIsUsed(CoxswainServer server, KubernetesClient client) {
    try (var one = server.newClientAs(client.getNamespace(), "operator");
        var two = server.newClientAs(client.getNamespace(), "operator")) {
      assertEquals(userOf(one).getUid(), userOf(two).getUid());
    }
  }

  @Test
  void tokensExpireByTheTimeOfTheServer(CoxswainServer server, KubernetesClient client) {
    try (var own = server.newClientAs(client.getNamespace(), "operator")) {
      userOf(own);
      server.advance(Duration.ofMinutes(61));
      assertFails(401, () -> userOf(own));
    }
  }

  @Test
  void anAccountNeedsItsNamespace(CoxswainServer server) {
    var error = assertThrows(UncheckedIOException.class, () -> server.newClientAs("nowhere", "operator"));
    assertTrue(error.getMessage().contains("namespaces \\\"nowhere\\\" not found"), error.getMessage());
  }
}
