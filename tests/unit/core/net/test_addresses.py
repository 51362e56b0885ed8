"""The SSRF check: which URLs may be fetched."""

import pytest

from sluice.core.errors import ConfigError, Refused
from sluice.core.net.addresses import AllowedHosts, check_url

NOTHING = AllowedHosts()

REFUSED_HOSTS = [
    *("127.0.0.1", "127.1", "127.0.1", "0x7f.1", "0x7F000001", "0177.0.0.1", "017700000001", "2130706433", "0", "0x"),
    *("10.0.0.1", "10.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200"),
    *("0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1"),
    *("[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:8.8.8.8]", "[::127.0.0.1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]"),
    *("[ff02::1]", "[2002:7f00:1::]", "[64:ff9b::7f00:1]", "[64:ff9b:1::1]", "[2001::1]", "[2001:db8::1]", "[3fff::1]"),
    *("localhost", "LOCALHOST", "localhost.", "a.localhost", "a.LocalHost.", "printer.local", "db.internal", "router.lan"),
    *("metadata.google.internal", "x.home.arpa", "metadata.tencentyun.com", "intranet", "single", "single."),
    *("127.0.0.1.nip.io", "10-0-0-1.sslip.io", "localtest.me", "x.lvh.me"),
    *("127.0.0.1.", "１２７.0.0.1", "127。0。0。1", "①27.0.0.1", "ⓛocalhost", "loc\u00adalhost", "127.0.0.1\u00ad"),
]  # fmt: skip

UNREADABLE = [
    *("http://", "http:///path", "http:example.com", "//example.com/", "example.com", "", "http://exa mple.com/"),
    *("http://user@example.com/", "http://user:secret@example.com/", "http://@example.com/", "http://a@b@example.com/"),
    *("http://example.com\\@127.0.0.1/", "http://127.0.0.1\\.example.com/", "http://%31%32%37.0.0.1/", "http://a%00b.com/"),
    *("http://exa\tmple.com/", "http://example.com/\n", "\x00http://example.com/", "http://example.com\r\n/"),
    *("ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)", "data:text/plain,x", "gopher://example.com/"),
    *("http://[::1/", "http://[fe80::1%25eth0]/", "http://[::1]x/", "http://[1.2.3.4]/", "http://x[::1]/", "http://::1/"),
    *("http://256.1.1.1/", "http://1.2.3.4.5/", "http://4294967296/", "http://09.1.1.1/", "http://foo.0x7f/", "http://a.1/"),
    *("http://example.com:99999/", "http://example.com:-1/", "http://example.com:8a/", "http://example.com:８０/"),
    *("http://2130706433../", "http://0x7f.1../", "http://127.0.0.1../", "http://localhost../", "http://1.../", "http://./"),
    *("http://a..b.com/", "http://.example.com/", "http://ex<ample.com/", "http://ex^ample.com/", "http://é\u2100.com/"),
]  # fmt: skip


@pytest.mark.parametrize("host", REFUSED_HOSTS)
@pytest.mark.parametrize("port", ["", ":80", ":8443"])
def test_private_host_is_refused(host, port):
    """No spelling of a private host is fetched, on any port."""
    with pytest.raises(Refused, match="which is not fetched"):
        check_url(f"http://{host}{port}/x", NOTHING)


@pytest.mark.parametrize("url", UNREADABLE)
def test_unclear_url_is_refused(url):
    """A URL that two parsers could read differently is refused, whatever is allowed."""
    for allowed in (NOTHING, AllowedHosts.parse("*")):
        with pytest.raises(Refused):
            check_url(url, allowed)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTP://Example.COM:80/A?b=C#d", "http://example.com/A?b=C"),
        ("https://example.com.:8443/", "https://example.com:8443/"),
        ("https://example.com:/", "https://example.com/"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://134744072/", "http://8.8.8.8/"),
        ("http://[2606:4700:0::1111]/", "http://[2606:4700::1111]/"),
        ("https://bücher.example/ü?q=ü", "https://xn--bcher-kva.example/ü?q=ü"),
        ("https://a_b.example/", "https://a_b.example/"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("  https://example.com/a b?c d  ", "https://example.com/a%20b?c%20d"),
        ("https://localhost.example.com/", "https://localhost.example.com/"),
        ("https://example.com?x=1", "https://example.com/?x=1"),
        ("https://1e100.net/", "https://1e100.net/"),
    ],
)
def test_public_url_is_made_canonical(url, expected):
    """A public URL has one canonical form, without its fragment."""
    assert check_url(url, NOTHING).url == expected


def test_credentials_are_refused_without_being_shown():
    """A URL with a password is refused with that reason, and the message does not repeat it."""
    with pytest.raises(Refused, match="user name or password") as caught:
        check_url("https://user:s3cret@example.com/", NOTHING)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("label", ["xn--99999999é", "xn--" + "9" * 40, "é.xn--" + "9" * 40, "é.xn--a-99999999"])
def test_endless_punycode_is_refused(label):
    """Punycode for a character beyond a machine word of 32 bits is refused and raises nothing else."""
    for url in (f"http://{label}.com/", f"http://{label}。com/"):
        try:
            target = check_url(url, NOTHING)
        except Refused:
            continue
        assert target.host.isascii()


def test_query_is_redacted():
    """The redacted URL has no query, which may hold a secret."""
    assert check_url("https://example.com/a?token=1", NOTHING).redacted_url == "https://example.com/a"


def test_allowed_hosts_pass():
    """An allowed host passes on every port, an allowed host and port only on that port."""
    allowed = AllowedHosts.parse(" 127.1, LOCALHOST:8080 ,[::1]:90,")
    for url in ("http://127.0.0.1/", "http://127.0.0.1:9/", "http://localhost:8080/", "http://[0::1]:90/"):
        check_url(url, allowed)
    for url in ("http://localhost/", "http://127.0.0.2/", "http://[::1]/", "http://a.localhost:8080/"):
        with pytest.raises(Refused):
            check_url(url, allowed)


def test_star_allows_every_host():
    """A star lets every host pass, but only by http and https."""
    check_url("http://192.168.0.1:81/", AllowedHosts.parse("*"))
    with pytest.raises(Refused):
        check_url("ftp://192.168.0.1/", AllowedHosts.parse("*"))


@pytest.mark.parametrize("text", ["a b", "user@host", "host:port", "[::1", "http://host"])
def test_malformed_allow_list(text):
    """A malformed entry is a ConfigError, not silently ignored."""
    with pytest.raises(ConfigError, match="ALLOW_PRIVATE_HOSTS"):
        AllowedHosts.parse(text)
