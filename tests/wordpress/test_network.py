"""The plugin in a network of sites: activated in each site on its own, and each with its own zone."""

from collections.abc import Iterator

import httpx
import pytest

from runtime import until
from wordpress.recording_worker import KEY, RecordingWorker
from wordpress.wordpress_site import WordPress

PREFIX = "net_"
SECOND = "/second/"
PLUGIN_NAME = "'sluice-preload/sluice-preload.php'"
ADMIN = "require_once ABSPATH . 'wp-admin/includes/plugin.php';"
CREATE = (
    "require_once ABSPATH . 'wp-admin/includes/upgrade.php'; require_once ABSPATH . 'wp-admin/includes/network.php';"
    "global $wpdb; foreach ( $wpdb->tables( 'ms_global' ) as $name => $table ) { $wpdb->$name = $table; }"
    "install_network(); populate_network( 1, $_SERVER['HTTP_HOST'], 'admin@example.org', 'A network', '/', false );"
)
LEFT_OVERS = (
    "SELECT option_name AS name FROM net_options WHERE option_name LIKE '%sluice%'"
    " UNION SELECT option_name FROM net_2_options WHERE option_name LIKE '%sluice%'"
    " UNION SELECT meta_key FROM net_usermeta WHERE meta_key LIKE '%sluice%'"
    " UNION SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'net\\_%sluice%'"
)


@pytest.fixture(name="network", scope="module")
def _network(wordpress: WordPress) -> Iterator[WordPress]:
    """Two sites; the second has a zone."""
    wordpress.configure(prefix=PREFIX)
    wordpress.install()
    wordpress.run(CREATE)
    host = httpx.URL(wordpress.origin).netloc.decode()
    constants: dict[str, str | int | None] = {
        "MULTISITE": True,
        "SUBDOMAIN_INSTALL": False,
        "DOMAIN_CURRENT_SITE": host,
        "PATH_CURRENT_SITE": "/",
        "SITE_ID_CURRENT_SITE": 1,
        "BLOG_ID_CURRENT_SITE": 1,
        "WP_HOME": None,
        "WP_SITEURL": None,
    }
    wordpress.configure(prefix=PREFIX, constants=constants)
    wordpress.run(
        f"wp_insert_site( array( 'domain' => 'second', 'path' => '{SECOND}', 'network_id' => 1, 'user_id' => 1 ) );"
        # WordPress takes no ports in domains.
        f"global $wpdb; $wpdb->update( $wpdb->blogs, array( 'domain' => '{host}' ), array( 'blog_id' => 2 ) );"
        f"foreach ( array( 'home', 'siteurl' ) as $name ) {{ update_blog_option( 2, $name, '{wordpress.origin}/second' ); }}"
    )
    wordpress.copy_plugin()
    yield wordpress
    wordpress.configure()
    wordpress.run(
        'global $wpdb; foreach ( $wpdb->get_col( "SHOW TABLES LIKE \'net\\_%\'" ) as $table ) { $wpdb->query( "DROP TABLE $table" ); }'
    )
    assert wordpress.find_complaints() == []


@pytest.fixture(name="sites")
def _sites(network: WordPress, recorder: RecordingWorker) -> Iterator[WordPress]:
    """The network with the plugin in both sites; nothing is left of it afterwards."""
    _set_up_second(network, recorder)
    network.run(f"{ADMIN} activate_plugin( {PLUGIN_NAME} );")
    yield network
    _uninstall(network)


def _uninstall(network: WordPress) -> None:
    for path in (SECOND, "/"):
        network.run(f"{ADMIN} deactivate_plugins( {PLUGIN_NAME} );", path)
    network.run(f"{ADMIN} uninstall_plugin( {PLUGIN_NAME} );")


def _set_up_second(network: WordPress, recorder: RecordingWorker) -> None:
    recorder.reset()
    settings = f"array( 'worker_url' => '{recorder.url}', 'zone_id' => 'second', 'signing_key' => '{KEY}' )"
    network.run(
        f"{ADMIN} update_option( 'sluice_preload_settings', {settings} ); activate_plugin( {PLUGIN_NAME} );", SECOND
    )
    until(lambda: [each for each in recorder.accepted if each.method == "PUT"])
    until(lambda: not network.query("SELECT id FROM net_2_sluice_preload_outbox"))
    recorder.reset()


def test_activation_for_all_sites_is_refused_with_a_sentence(network: WordPress):
    """Network activation ends with the reason and the way out, and activates nothing."""
    with pytest.raises(RuntimeError, match="cannot be activated for a whole network: each site has a zone"):
        network.run(f"{ADMIN} activate_plugin( {PLUGIN_NAME}, '', true );")
    assert not network.ask("get_site_option( 'active_sitewide_plugins' )")
    assert network.query(LEFT_OVERS) == []


def test_each_change_belongs_to_its_site(sites: WordPress, recorder: RecordingWorker):
    """A request of the first site that publishes in both: the second site's Worker hears of the second's post alone."""
    url = sites.run(
        "wp_insert_post( array( 'post_title' => 'In the first', 'post_status' => 'publish' ) );"
        "switch_to_blog( 2 );"
        "echo get_permalink( wp_insert_post( array( 'post_title' => 'In the second', 'post_status' => 'publish' ) ) );"
        "restore_current_blog();"
    )
    until(lambda: url in recorder.collect("preload", "urls"))
    assert {each.body["zone_id"] for each in recorder.accepted} == {"second"}
    urls = recorder.collect("purge", "urls") | recorder.collect("preload", "urls")
    assert not [each for each in urls if not each.startswith(f"{sites.origin}{SECOND}")]


def test_uninstalling_clears_all_sites(sites: WordPress):
    """What any site of the network stored goes."""
    assert sites.query(LEFT_OVERS)
    _uninstall(sites)
    assert sites.query(LEFT_OVERS) == []
