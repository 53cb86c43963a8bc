package dev.coxswain.junit;

import java.io.UncheckedIOException;
import java.util.Map;

import io.fabric8.kubernetes.api.model.authentication.TokenRequest;

/** The tokens of ServiceAccounts. */
final class Accounts {
  private Accounts() {}

  /** A token of an account, which is created unless it exists. */
  static String tokenOf(Control control, String namespace, String name) {
    var accounts = "/api/v1/namespaces/" + namespace + "/serviceaccounts";
    try {
      control.send("POST", accounts, Map.of("metadata", Map.of("name", name)), "application/json");
    } catch (UncheckedIOException problem) {
      if (!exists(control, accounts + "/" + name)) throw problem;
    }
    var path = accounts + "/" + name + "/token";
    return control.call("POST", path, Map.of("spec", Map.of()), TokenRequest.class).getStatus().getToken();
  }

  private static boolean exists(Control control, String path) {
    try {
      control.send("GET", path, null, "application/json");
      return true;
    } catch (UncheckedIOException e) {
      return false;
    }
  }
}
