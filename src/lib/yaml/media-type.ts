/** The media type of YAML in requests and responses. */
export const yamlType = "application/yaml";
