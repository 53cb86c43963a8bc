package dev.coxswain.junit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Where a webhook server of a test listens, and its certificate, as PEM files. */
public record WebhookServing(String host, int port, Path certificate, Path key, Path authority) {
  private record Issued(String certificate, String key, String ca) {}

  static WebhookServing issue(Control control, Path directory) {
    Map<String, ?> body = Map.of("hosts", List.of("127.0.0.1", "localhost"));
    var issued = control.call("POST", "/testing/certificates", body, Issued.class);
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var certificate = write(directory.resolve("tls.crt"), issued.certificate());
      var key = write(directory.resolve("tls.key"), issued.key());
      var authority = write(directory.resolve("ca.crt"), issued.ca());
      return new WebhookServing("127.0.0.1", free.getLocalPort(), certificate, key, authority);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes a file that only its owner can read. */
  private static Path write(Path path, String text) throws IOException {
    var file = Files.createFile(path).toFile();
    file.setReadable(false, false);
    file.setReadable(true, true);
    return Files.writeString(path, text);
  }

  /** Such as {@code https://127.0.0.1:40123}. */
  public URI url() {
    return URI.create("https://" + host + ":" + port);
  }
}
