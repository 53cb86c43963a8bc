package dev.coxswain.junit;

import java.net.URI;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Webhooks that a server calls until this is closed, or the test that has added them ends. */
public final class Webhook implements Scopes.Scoped {
  private static final String PATH = "/testing/webhooks";

  private record Added(String name, String kind, String url) {}

  private final Control control;
  private final Scopes scopes;
  private final ReviewServer serving;
  private final Deque<String> names = new ArrayDeque<>();

  private Webhook(Control control, Scopes scopes, ReviewServer serving) {
    this.control = control;
    this.scopes = scopes;
    this.serving = serving;
    scopes.added(this);
  }

  /** Of a function. */
  static Webhook open(Control control, Scopes scopes, List<WebhookSpecs.Spec> specs, Review review) {
    if (specs.stream().anyMatch(spec -> spec.fields().containsKey("conversion")))
      throw new IllegalArgumentException("a conversion needs a Conversion, or the URL of a server");
    return serve(control, scopes, specs, text -> Reviews.admission(control, text, review));
  }

  /** Of a function that converts objects of a definition. */
  static Webhook open(Control control, Scopes scopes, String definition, Conversion conversion) {
    var spec = new WebhookSpecs.Spec(Map.of("conversion", Map.of("definition", definition)), "");
    return serve(control, scopes, List.of(spec), text -> Reviews.conversion(control, text, conversion));
  }

  private static Webhook serve(Control control, Scopes scopes, List<WebhookSpecs.Spec> specs, UnaryOperator<String> answer) {
    var serving = ReviewServer.open(answer);
    return new Webhook(control, scopes, serving).register(specs, serving.url());
  }

  /** Of a server of the test. */
  static Webhook open(Control control, Scopes scopes, List<WebhookSpecs.Spec> specs, URI url) {
    return new Webhook(control, scopes, null).register(specs, url);
  }

  private Webhook register(List<WebhookSpecs.Spec> specs, URI url) {
    try {
      for (var spec : specs) {
        var body = new HashMap<String, Object>(spec.fields());
        body.put("url", url + spec.path());
        names.push(control.call("POST", PATH, body, Added.class).name());
      }
      return this;
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** The server does not call them any more. Closing again does nothing. */
  @Override
  public void close() {
    scopes.closed(this);
    while (!names.isEmpty()) control.send("DELETE", PATH + "/" + names.pop(), null, "application/json");
    if (serving != null) serving.close();
  }
}
