"""The Cloudflare account that is deployed to."""

import json
import os
from typing import Any

from commands import CommandFailed, DeployError, Wrangler, read_json
from worker_config import WorkerConfig


def choose_account(configs: list[WorkerConfig], run: Wrangler) -> str:
    """Return the id of the account, which wrangler takes from now on; by itself it might take one of another login.

    Raise DeployError without a login, or if it is not clear which account is meant.
    """
    accounts = {account["id"]: account["name"] for account in _read_login(run)["accounts"]}
    written = {str(config.content["account_id"]) for config in configs if "account_id" in config.content}
    chosen = written or set(filter(None, [os.environ.get("CLOUDFLARE_ACCOUNT_ID")])) or accounts.keys()
    if len(chosen) != 1:
        known = "".join(f"\n  {name}: {account}" for account, name in accounts.items())
        raise DeployError(
            f"set CLOUDFLARE_ACCOUNT_ID to the id of the account to deploy to; this login has:{known or ' none'}"
        )
    (account,) = chosen
    os.environ["CLOUDFLARE_ACCOUNT_ID"] = account
    return account


def _read_login(run: Wrangler) -> Any:
    try:
        return read_json(run, "whoami", "--json")
    except CommandFailed as error:
        if _is_logged_out(error.output):
            raise DeployError(
                "not logged in to Cloudflare: run npx wrangler login, or set CLOUDFLARE_API_TOKEN"
            ) from None
        raise


def _is_logged_out(output: str) -> bool:
    try:
        return bool(json.loads(output) == {"loggedIn": False})
    except ValueError:
        return False
