package dev.coxswain.junit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Objects in files, or in a text: YAML with any number of documents, or JSON. */
public final class Manifests {
  private static final Pattern NAME = Pattern.compile(".*\\.(?:yaml|yml|json)");

  private final String stream;
  private final String namespace;

  private Manifests(String stream, String namespace) {
    this.stream = stream;
    this.namespace = namespace;
  }

  /**
   * Reads files, and of folders all files with the extensions yaml, yml and json, by name.
   *
   * @throws UncheckedIOException if a file cannot be read, or a folder has none
   */
  public static Manifests of(Path... paths) {
    var texts = Stream.of(paths).flatMap(path -> files(path).stream()).map(Manifests::read);
    return new Manifests(texts.map(text -> "---\n" + text + "\n").collect(Collectors.joining()), null);
  }

  /** A manifest in a text. */
  public static Manifests ofText(String text) {
    return new Manifests(text, null);
  }

  /**
   * The same objects, where those that need a namespace and name none are in this one. Webhooks get only objects of it.
   * Otherwise, objects are in default, and webhooks get those of all namespaces.
   */
  public Manifests inNamespace(String name) {
    return new Manifests(stream, name);
  }

  String stream() {
    return stream;
  }

  /** Null if it is not set. */
  String namespace() {
    return namespace;
  }

  private static List<Path> files(Path path) {
    if (!Files.isDirectory(path)) return List.of(path);
    try (var entries = Files.list(path)) {
      var files = entries.filter(file -> NAME.matcher(file.toString()).matches()).sorted().toList();
      if (files.isEmpty()) throw new IOException(path + " has no .yaml, .yml or .json file");
      return files;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
