//! Clients of service accounts.

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::config::AuthInfo;

use crate::{Error, Server};

/// Service accounts.
impl Server {
    /// A client that sends a token of a ServiceAccount, which is created unless it exists. The account has the rights
    /// that roles of the server grant to it, and no others. The token expires an hour later, by the time of the server.
    pub async fn as_service_account(&self, namespace: &str, name: &str) -> Result<Client, Error> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client(), namespace);
        if accounts.get_opt(name).await?.is_none() {
            let metadata = ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() };
            let account = ServiceAccount { metadata, ..ServiceAccount::default() };
            accounts.create(&PostParams::default(), &account).await?;
        }
        let request = TokenRequest { spec: Some(TokenRequestSpec::default()), ..TokenRequest::default() };
        let answer = accounts.create_token_request(name, &PostParams::default(), &request).await?;
        let token = answer.status.and_then(|status| status.token).expect("the server sets the status");
        let mut config = self.config(namespace).await?;
        config.auth_info = AuthInfo { token: Some(token.into()), ..AuthInfo::default() };
        Ok(Client::try_from(config)?)
    }
}
