package dev.coxswain.junit;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;

/** The webhooks of manifests, as the control of a server accepts them. */
final class WebhookSpecs {
  private WebhookSpecs() {}

  /** A webhook, and the path of its clientConfig. */
  record Spec(Map<String, ?> fields, String path) {}

  static List<Spec> of(Control control, Manifests manifests) {
    var specs = control.load(manifests.stream()).stream().flatMap(one -> ofObject(control, one, manifests.namespace())).toList();
    if (specs.isEmpty()) throw new IllegalArgumentException("there is no webhook in the manifests");
    return specs;
  }

  private static Stream<Spec> ofObject(Control control, HasMetadata object, String namespace) {
    if (object instanceof ValidatingWebhookConfiguration configuration)
      return configuration.getWebhooks().stream().map(entry -> entryOf(control, "validating", entry, namespace));
    if (object instanceof MutatingWebhookConfiguration configuration)
      return configuration.getWebhooks().stream().map(entry -> entryOf(control, "mutating", entry, namespace));
    if (object instanceof CustomResourceDefinition definition) return conversionOf(definition).stream();
    return Stream.of();
  }

  @SuppressWarnings("unchecked")
  private static Spec entryOf(Control control, String kind, Object entry, String namespace) {
    Map<String, Object> fields = new TreeMap<>(control.decode(control.encode(entry), Map.class));
    var clientConfig = (Map<String, Object>) fields.remove("clientConfig");
    var service = clientConfig == null ? null : (Map<String, Object>) clientConfig.get("service");
    if (namespace != null) fields.put("namespace", namespace);
    return new Spec(Map.of(kind, fields), service == null ? "" : (String) service.getOrDefault("path", ""));
  }

  private static List<Spec> conversionOf(CustomResourceDefinition definition) {
    var conversion = definition.getSpec().getConversion();
    if (conversion == null || conversion.getWebhook() == null) return List.of();
    var webhook = conversion.getWebhook();
    Map<String, ?> fields = Map.of("definition", definition.getMetadata().getName(), "conversionReviewVersions",
        webhook.getConversionReviewVersions());
    var service = webhook.getClientConfig().getService();
    var path = service == null || service.getPath() == null ? "" : service.getPath();
    return List.of(new Spec(Map.of("conversion", fields), path));
  }
}
