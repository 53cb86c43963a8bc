/** The media type of YAML in requests and responses. Source: RFC 9512. */
export const yamlType = "application/yaml";
